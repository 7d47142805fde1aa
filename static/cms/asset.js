// The focal point by a click on the picture, and pages that wait for a worker. Without it: two fields, and a link.

const across = document.querySelector("[name=focal_x]");
const down = document.querySelector("[name=focal_y]");
const picture = document.querySelector("[data-picture]");
const mark = document.querySelector("[data-mark]");

function show() {
  const isSet = across.value !== "" && down.value !== "";
  mark.hidden = !isSet;
  if (isSet) {
    mark.style.left = `${across.value}%`;
    mark.style.top = `${down.value}%`;
  }
}

if (across && down && picture && mark) {
  picture.classList.add("is-pickable");
  document.querySelector("[data-with-script]").hidden = false;
  picture.querySelector("img").addEventListener("click", (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    across.value = ((100 * (event.clientX - box.left)) / box.width).toFixed(1);
    down.value = ((100 * (event.clientY - box.top)) / box.height).toFixed(1);
    show();
  });
  across.addEventListener("input", show);
  down.addEventListener("input", show);
  show();
}

// Reads the page again until it waits no more; what somebody is typing is never lost.
let isTouched = false;
document.addEventListener("input", () => {
  isTouched = true;
});
picture?.addEventListener("click", () => {
  isTouched = true;
});
async function look(times) {
  if (times === 0 || isTouched) return;
  const answer = await fetch(location.href, { headers: { "X-Live": "1" } }).catch(() => null);
  if (answer?.ok && !(await answer.text()).includes("data-waiting") && !isTouched) location.reload();
  else setTimeout(look, 2000, times - 1);
}
if (document.querySelector("[data-waiting]")) setTimeout(look, 1000, 60);
