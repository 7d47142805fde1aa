// The matrix of translations: its button says how many drafts it creates.

const region = document.getElementById("entries");

function show() {
  const button = region.querySelector("[data-many]");
  if (!button) return;
  button.dataset.none ??= button.textContent;
  const number = region.querySelectorAll("input[name=make]:checked").length;
  const { none, one, many } = button.dataset;
  button.textContent = number === 0 ? none : number === 1 ? one : many.replace("{n}", number);
}

// On the region: what is inside it is replaced when posts change.
region.addEventListener("change", show);
window.addEventListener("pageshow", show);
