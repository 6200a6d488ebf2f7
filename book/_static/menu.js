/* What the theme leaves out for those who read without a mouse: a name for the folds of the menu;
   and a list of works is no list of list items. */
document.addEventListener("DOMContentLoaded", function () {
  document.querySelectorAll(".bd-links summary:not([aria-label])").forEach(function (summary) {
    const link = summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", "Pages of " + (link ? link.textContent.trim() : "this part"));
  });
  document.querySelectorAll(".citation-list[role=list]").forEach((list) => list.removeAttribute("role"));
});
