/* A name for the folds of the menu, which the theme leaves without one. */
document.addEventListener("DOMContentLoaded", function () {
  document.querySelectorAll(".bd-links summary:not([aria-label])").forEach(function (summary) {
    const link = summary.closest("li").querySelector("a");
    summary.setAttribute("aria-label", "Pages of " + (link ? link.textContent.trim() : "this part"));
  });
});
