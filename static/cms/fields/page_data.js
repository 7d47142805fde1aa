// What scripts of fields share: the addresses and labels that the page gives them, and how they attach to fields.

const data = document.getElementById("field-words")?.dataset ?? {};

/** Return an address, or a label in the page's language. */
export const pageData = (name) => data[name] ?? "";

/** Call `attach` with every element that `selector` finds, now and in parts that are added later. */
export function attachEach(selector, attach) {
  const seen = new WeakSet();
  const look = (root) => {
    const found = [...root.querySelectorAll(selector)];
    if (root.matches?.(selector)) found.unshift(root);
    for (const element of found) {
      if (seen.has(element)) continue;
      seen.add(element);
      attach(element);
    }
  };
  look(document);
  document.addEventListener("cms:added", (event) => look(event.detail?.root ?? document));
}

/** A field changed by a script tells the form as if somebody had typed. */
export function notifyChanged(field) {
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}
