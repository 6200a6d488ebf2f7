/* What the theme leaves out for those who read without a mouse: a name for the folds of the menu;
   and a list of works is no list of list items. */
document.addEventListener("DOMContentLoaded", function () {
  document.querySelectorAll(".bd-links summary:not([aria-label])").forEach(function (summary) {
    const link = summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", "Pages of " + (link ? link.textContent.trim() : "this part"));
  });
  document.querySelectorAll(".citation-list[role=list]").forEach((list) => list.removeAttribute("role"));
});
/* A formula, drawing or figure that scrolls on a narrow screen is reached by the keyboard too. */
function reachable() {
  document.querySelectorAll("mjx-container, .xl-drawing, .xl-figure").forEach(function (box) {
    if (box.scrollWidth > box.clientWidth + 1) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
}
window.addEventListener("resize", reachable);
window.addEventListener("load", function () {
  reachable();
  if (window.MathJax && MathJax.startup) MathJax.startup.promise.then(reachable);
});
