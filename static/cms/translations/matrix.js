// Shows the number of drafts to create on the button of the translation matrix.

const region = document.getElementById("entries");

function show() {
  const button = region.querySelector("[data-many]");
  if (!button) return;
  button.dataset.none ??= button.textContent;
  const number = region.querySelectorAll("input[name=make]:checked").length;
  const { none, one, many } = button.dataset;
  button.textContent = number === 0 ? none : number === 1 ? one : many.replace("{n}", number);
}

// Listen on the region, because its content is replaced when posts change.
region.addEventListener("change", show);
window.addEventListener("pageshow", show);
