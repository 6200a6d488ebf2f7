/* How search results are ordered: Sphinx's own scores, findings, claims and experiments before all
   other pages. */
var Scorer = {
  score: ([page, title, anchor, description, score]) => score + (page.includes("/") && !page.startsWith("guide/") ? 30 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
