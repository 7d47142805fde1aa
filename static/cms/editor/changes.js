// What of the form differs from what stands: fields by their units, modules that were added, removed or moved.

const IGNORED = /^(csrfmiddlewaretoken|was|was_order|version|order|add|number|do|take\..*)$/;

const unitOf = (name) => {
  const parts = name.split(".");
  if (parts[0] !== "modules") return parts.slice(0, 2).join(".");
  return parts.slice(0, parts[1].startsWith("new-") ? 2 : 4).join(".");
};

function unitsOf(sent) {
  const units = new Map();
  for (const [name, value] of sent) {
    if (IGNORED.test(name) || value instanceof File) continue;
    // A second name of the same field, such as its document beside its Markdown; an empty one says nothing.
    if (name.includes("~") && value === "") continue;
    const unit = unitOf(name.replace(/~\w+$/, ""));
    units.set(unit, `${units.get(unit) ?? ""}\n${name}=${value}`);
  }
  return units;
}

const idsOf = (form, name) => new FormData(form).getAll(name).map((token) => token.split(":")[0]);
const isNew = (id) => id.startsWith("new-");

/** `changes.now()` answers the paths that differ; `changes.listen` is told of them after each. */
export function watchChanges(form) {
  const listeners = [];
  const typed = () => unitsOf(new FormData(form));
  const before = typed();
  let touched = new Set(JSON.parse(form.dataset.touched || "[]"));
  let planned;

  function now() {
    const [units, order, wasOrder] = [typed(), idsOf(form, "order"), idsOf(form, "was_order")];
    const moduleOf = (path) => (path.startsWith("modules.") ? path.split(".")[1] : "");
    const found = new Set([...touched].filter((path) => !isNew(moduleOf(path))));
    for (const path of new Set([...before.keys(), ...units.keys()])) {
      if (before.get(path) !== units.get(path)) found.add(path);
    }
    const removed = wasOrder.filter((id) => !order.includes(id));
    for (const path of found) if (moduleOf(path) && (isNew(moduleOf(path)) || removed.includes(moduleOf(path)))) found.delete(path);
    for (const id of order.filter(isNew)) found.add(`modules.${id}`);
    for (const id of removed) found.add(`modules.${id}`);
    const [one, other] = [order.filter((id) => wasOrder.includes(id)), wasOrder.filter((id) => order.includes(id))];
    if (one.join() !== other.join()) found.add("order");
    return found;
  }

  function tell() {
    planned = undefined;
    const found = now();
    for (const listener of listeners) listener(found);
  }

  const changes = {
    now,
    listen(listener) { listeners.push(listener); },
    plan() { planned ??= setTimeout(tell, 120); },
    /** Fields that came to the page later stand as they came. */
    known(id) {
      for (const [path, value] of typed()) if (path.startsWith(`modules.${id}.`)) before.set(path, value);
    },
    /** What was sent is what stands. */
    settle(sent) {
      before.clear();
      for (const [path, value] of unitsOf(sent)) before.set(path, value);
      touched = new Set();
      tell();
    },
  };
  for (const name of ["input", "change"]) form.addEventListener(name, changes.plan);
  changes.plan();
  return changes;
}
