// Lists whose items have one file each, such as the images of a gallery: several files are chosen or dropped at once,
// and each becomes an item, in order.

import { announce, fetchPage, pageData } from "../http.js";
import { acceptFiles, uploads } from "../media/uploads.js";
import { loadStyles, pickerAddress, pickSeveral } from "../media/picker.js";

const FIELD = "select[data-media]";

/** Return whether each item of a list has exactly one media field. */
export function isMediaList(list) {
  const blank = list.querySelector(":scope > template[data-blank]")?.content;
  const fields = [...(blank?.querySelectorAll(FIELD) ?? [])];
  return fields.length === 1 && !fields[0].closest("[data-repeater]");
}

/** `itemsOf(list)` returns the items, `append(list, count)` adds blank ones and returns them. */
export function startMediaList(list, { itemsOf, append }) {
  const button = list.querySelector(":scope > p > [data-add-files]");
  const place = list.querySelector(":scope > [data-list-uploads]");
  const room = () => Number(list.dataset.most) - itemsOf(list).length + emptyItems().length;
  let running = null;

  /** Items that nobody has filled in yet. */
  function emptyItems() {
    // Boxes and choices always have a value.
    const isChoice = (field) => ["checkbox", "radio"].includes(field.type) || (field.matches("select") && !field.matches(FIELD));
    const isEmpty = (field) => isChoice(field) || !field.value.trim();
    return itemsOf(list).filter((item) => [...item.querySelectorAll("input[name]:not([type=hidden]), textarea[name], select[name]")].every(isEmpty));
  }

  function add(files) {
    const kept = files.slice(0, room());
    if (kept.length < files.length) announce(button.dataset.full);
    const empty = emptyItems();
    const items = [...empty, ...append(list, Math.max(0, kept.length - empty.length))];
    for (const [at, file] of kept.entries()) {
      const field = items[at].querySelector(FIELD);
      if (![...field.options].some(({ value }) => value === file.id)) field.add(new Option(file.title, file.id));
      field.value = file.id;
      field.dispatchEvent(new Event("change", { bubbles: true }));
      const words = items[at].querySelector("[data-item-words]");
      if (!words.textContent.trim()) words.textContent = file.title;
    }
    if (kept.length === 1) announce(button.dataset.addedOne);
    else if (kept.length) announce(button.dataset.added.replace("{n}", String(kept.length)));
  }

  button.hidden = false;
  button.addEventListener("click", async () => {
    const files = await pickSeveral({ kind: list.querySelector(":scope > template[data-blank]").content.querySelector(FIELD).dataset.accepts || "image", language: pageData("locale"), most: Math.max(1, room()) });
    add(files);
  });

  async function uploadAll(files) {
    running ??= await startUploads();
    running?.(files);
  }

  /** Return the function that uploads files, or null without the permission. The list of uploads is that of the picker. */
  async function startUploads() {
    const page = await fetchPage(pickerAddress({ kind: "image" }), { headers: { "X-Fragment": "1" } }).catch(() => null);
    const section = page?.querySelector("[data-uploads]");
    if (!section) {
      place.textContent = button.dataset.failed;
      return null;
    }
    await loadStyles(page.querySelector("[data-picker]").dataset.style);
    place.replaceChildren(document.importNode(section, true));
    const order = [];
    const stored = new Map();
    const send = uploads(place.firstElementChild, {
      takesExisting: true,
      onStored: (asset, { file }) => stored.set(file, asset),
      // The uploads end in any order; the items have that of the files.
      onIdle: () => {
        add(order.filter((file) => stored.has(file)).map((file) => stored.get(file)));
        stored.clear();
      },
    });
    return (more) => {
      order.push(...more);
      send.add(more);
    };
  }

  acceptFiles(list, null, uploadAll);
  for (const name of ["dragenter", "dragover"]) list.addEventListener(name, () => list.classList.add("is-over"));
  for (const name of ["dragleave", "drop"]) list.addEventListener(name, () => list.classList.remove("is-over"));
}
