/* Sorts a table when a header is pressed and filters its rows by a text box.
   Works on every `.xl-interactive` container; without this file the tables are plain tables. */
(function () {
  "use strict";

  function sortValue(cell) {
    if (!cell) return { number: NaN, text: "" };
    const raw = cell.dataset.sort;
    const text = cell.textContent.trim();
    return { number: raw === undefined ? NaN : Number(raw), text: text };
  }

  function compareCells(a, b) {
    const bothNumbers = !Number.isNaN(a.number) && !Number.isNaN(b.number);
    if (bothNumbers) return a.number - b.number;
    return a.text.localeCompare(b.text, undefined, { numeric: true });
  }

  /* Cells without a number stay last in both directions when the others have one. */
  function order(index, ascending) {
    return function (first, second) {
      const a = sortValue(first.cells[index]);
      const b = sortValue(second.cells[index]);
      const aMissing = Number.isNaN(a.number);
      const bMissing = Number.isNaN(b.number);
      if (aMissing !== bMissing) return aMissing ? 1 : -1;
      return ascending ? compareCells(a, b) : compareCells(b, a);
    };
  }

  function sortBy(table, headers, index) {
    const ascending = headers[index].getAttribute("aria-sort") !== "ascending";
    headers.forEach(function (header) { header.removeAttribute("aria-sort"); });
    headers[index].setAttribute("aria-sort", ascending ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = Array.from(body.rows);
    rows.sort(order(index, ascending));
    rows.forEach(function (row) { body.appendChild(row); });
  }

  function addSorting(table) {
    const headers = Array.from(table.tHead.rows[0].cells);
    headers.forEach(function (header, index) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "xl-sort";
      /* Links stay beside the button: nothing to press may stand in it. */
      button.append.apply(button, Array.from(header.childNodes).filter(function (node) {
        return !(node.classList && node.classList.contains("xl-links"));
      }));
      if (/\S{11}/.test(button.textContent)) button.classList.add("xl-long");
      header.prepend(button);
      button.addEventListener("click", function () { sortBy(table, headers, index); });
    });
  }

  /* A box above `container` that leaves those of `items` that hold all its words. */
  function addFilter(container, items, what) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("span");
    label.className = "xl-filter";
    label.append("Filter " + what + ": ", input, " ", count);
    input.type = "search";
    input.autocomplete = "off";
    count.className = "xl-count";
    count.setAttribute("role", "status");
    input.addEventListener("input", function () {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      items.forEach(function (item) {
        const text = item.textContent.toLowerCase();
        item.hidden = !words.every(function (word) { return text.includes(word); });
      });
      const shown = items.filter(function (item) { return !item.hidden; }).length;
      count.textContent = words.length ? shown + " of " + items.length + " " + what : "";
    });
    container.before(label);
  }

  function prepare(container) {
    const table = container.querySelector("table");
    if (!table || !table.tHead || !table.tBodies.length || container.dataset.ready) return;
    container.dataset.ready = "yes";
    addSorting(table);
    const rows = Array.from(table.tBodies[0].rows);
    if (rows.length > 5) addFilter(container.firstChild, rows, "rows");
  }

  /* A table that fits the window needs no box: its head then stays in sight with the page. */
  function fit() {
    document.querySelectorAll(".xl-table").forEach(function (container) {
      const box = container.querySelector(".xl-scroll");
      container.classList.remove("xl-fits");
      container.classList.toggle("xl-fits", box.scrollWidth <= box.clientWidth);
    });
  }

  function addCopy(code) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "xl-copy";
    button.textContent = "copy";
    button.setAttribute("aria-label", "Copy the command");
    button.addEventListener("click", function () {
      navigator.clipboard.writeText(code.textContent).then(function () {
        button.textContent = "copied";
      });
    });
    code.after(button);
  }

  /* A link may lead into something folded: open what it stands in. */
  function unfold() {
    const found = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!found) return;
    const inner = found.querySelector("details");
    if (inner) inner.open = true;
    for (let e = found; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
  }

  function start() {
    document.querySelectorAll(".xl-interactive").forEach(prepare);
    const all = Array.from(document.querySelectorAll(".xl-deviations > li"));
    if (document.querySelectorAll(".xl-deviations").length > 1) {
      addFilter(document.querySelector("article h1").nextElementSibling, all, "deviations");
    }
    document.querySelectorAll(".xl-command").forEach(addCopy);
    fit();
    unfold();
    window.addEventListener("resize", fit);
    window.addEventListener("hashchange", unfold);
    document.addEventListener("toggle", fit, true);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
