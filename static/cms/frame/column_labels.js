// Gives each cell of a list the name of its column, which a phone shows beside the cell instead of above the column.

const table = document.querySelector("#result_list");
const names = [...(table?.tHead?.rows[0]?.cells ?? [])].map((cell) =>
  cell.classList.contains("action-checkbox-column") ? "" : (cell.querySelector(".text")?.textContent.trim() ?? ""),
);
for (const row of table?.tBodies[0]?.rows ?? []) {
  [...row.cells].forEach((cell, place) => {
    if (cell.tagName === "TD" && names[place]) cell.dataset.label = names[place];
  });
}
