// What the scripts of fields are told by the page: addresses, and words of its language.

const told = document.getElementById("field-words")?.dataset ?? {};

export const words = (name) => told[name] ?? "";

export const counted = (number) => (number === 1 ? words("one") : words("many").replace("{n}", String(number)));

/** Call `attach` with every element that `selector` finds, now and in parts that are added later. */
export function each(selector, attach) {
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
export function tell(field) {
  field.dispatchEvent(new Event("input", { bubbles: true }));
  field.dispatchEvent(new Event("change", { bubbles: true }));
}
