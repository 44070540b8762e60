"use strict";
for (const box of document.querySelectorAll(".table[data-sortable]")) {
  const body = box.querySelector(":scope > table > tbody");
  const rows = [...body.querySelectorAll(":scope > tr:not(.below)")];
  const more = new Map(rows.map((row) => [row, row.nextElementSibling?.matches(".below") ? [row.nextElementSibling] : []]));
  const value = (row, at) => row.cells[at].dataset.sort ?? row.cells[at].textContent.trim();
  const number = (text) => (/^[-−+]?[\d.,]+/.test(text) ? parseFloat(text.replace("−", "-").replaceAll(",", "")) : NaN);
  const compare = (a, b) => {
    const [x, y] = [number(a), number(b)];
    if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;
    return isNaN(x) ? a.localeCompare(b) : x - y;
  };
  [...box.querySelectorAll(":scope > table > thead th")].forEach((head) => {
    const at = head.cellIndex;
    const button = document.createElement("button");
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.ariaSort !== "ascending";
      for (const other of box.querySelectorAll("thead th")) other.ariaSort = null;
      head.ariaSort = up ? "ascending" : "descending";
      const sorted = [...rows].sort((a, b) => (up ? 1 : -1) * compare(value(a, at), value(b, at)));
      body.append(...sorted.flatMap((row) => [row, ...more.get(row)]));
    });
  });
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter rows";
  field.setAttribute("aria-label", "Filter rows");
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    for (const row of rows) {
      const hidden = !words.every((word) => row.textContent.toLowerCase().includes(word));
      for (const one of [row, ...more.get(row)]) one.hidden = hidden;
    }
  });
  box.before(field);
}
