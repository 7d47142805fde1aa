// Images of other places in pasted text: offered for the library, brought in one after the other, and reported.
//
// Each stands in the text as a marker (frontend/richtext/src/pasted_images.js) until it is imported or left out. What
// could not be imported stays as a note in words. Every word comes from the data attributes of the panel.

import { fetchJson } from "../http.js";

const fill = (words, values) => words.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

export class ImageImport {
  /** `replace(id, what)` changes a marker and returns whether it was there still. */
  constructor(panel, { replace, language, onClose }) {
    Object.assign(this, { panel, replace, language, onClose, images: [], words: panel.dataset });
    this.mayImport = panel.hasAttribute("data-may-import");
    this.said = panel.querySelector("[data-images-said]");
    this.failures = panel.querySelector("[data-images-failed]");
    this.progress = panel.querySelector("progress");
    const acts = {
      import: () => this.start(this.waiting()),
      leave: () => this.leave(),
      cancel: () => this.cancelling.abort(),
      retry: () => this.start(this.failed()),
      close: () => this.close(),
    };
    panel.addEventListener("click", (event) => acts[event.target.closest("[data-images]")?.dataset.images]?.());
  }

  /** The words that stand for an image. */
  note(name) {
    return name ? fill(this.words.note, { name }) : this.words.noteBare;
  }

  waiting() {
    return this.images.filter(({ state }) => state === "waiting");
  }

  failed() {
    return this.images.filter(({ state }) => state === "failed");
  }

  add(images) {
    if (!this.cancelling && !this.waiting().length) this.forget();
    for (const image of images) this.images.push({ ...image, state: "waiting" });
    if (this.cancelling) return; // the one that is running takes them too
    const own = this.waiting();
    this.say(this.mayImport ? "offer" : "forbidden", own.length);
    if (this.mayImport) this.offer(own.length);
    else this.show("close");
  }

  offer(count) {
    this.button("import").textContent = this.words[count === 1 ? "importOne" : "importMany"].replace("{n}", String(count));
    this.button("leave").textContent = this.words[count === 1 ? "leaveOne" : "leaveMany"];
    this.show("import", "leave");
  }

  async start(images) {
    for (const image of images) image.state = "waiting";
    this.cancelling = new AbortController();
    const { signal } = this.cancelling;
    this.failures.hidden = true;
    this.show("cancel");
    this.button("cancel").focus();
    for (let done = 0, all = images.length; done < all && !signal.aborted; done += 1, all = done + this.waiting().length) {
      this.progress.max = all;
      this.progress.value = done;
      this.said.textContent = fill(this.words.importing, { n: String(done + 1), all: String(all) });
      await this.bring(this.waiting()[0], signal);
    }
    this.cancelling = null;
    if (signal.aborted) this.cancelled();
    else this.report();
  }

  async bring(image, signal) {
    try {
      const file = this.reason(image) ? null : await this.send(image, signal);
      if (!file) throw new Error(this.reason(image));
      image.state = "done";
      image.isNew = file.isNew;
      // Taken out of the text meanwhile, it is in the library all the same.
      this.replace(image.id, { src: file.url, alt: image.alt || file.alt });
    } catch (error) {
      if (error.name === "AbortError") return;
      image.state = "failed";
      image.reason = error.message || this.words.lost;
    }
  }

  /** Why there is nothing to send. */
  reason({ file, url }) {
    if (!file && !url) return this.words.local;
    return file && file.size > Number(this.words.most) ? this.words.tooLarge : "";
  }

  send({ file, url, alt }, signal) {
    const body = new FormData();
    if (file) body.append("file", file, file.name);
    else body.append("url", url);
    body.append("alt_text", alt);
    body.append("language", this.language());
    return fetchJson(this.words.address, { body, signal });
  }

  cancelled() {
    const left = this.waiting().length;
    this.say("cancelled", left);
    this.offer(left);
    this.button("import").focus();
  }

  report() {
    const count = (test) => this.images.filter(test).length;
    const [done, known] = [count(({ state }) => state === "done"), count(({ state, isNew }) => state === "done" && !isNew)];
    const failed = this.failed();
    const parts = [["done", done], ["known", known], ["failed", failed.length]].filter(([, number]) => number);
    this.said.textContent = parts.map(([name, number]) => this.sentence(name, number)).join(" ");
    this.failures.replaceChildren(...failed.map(({ alt, name, reason }, at) => {
      const row = document.createElement("li");
      const title = document.createElement("b");
      title.textContent = name || alt || fill(this.words.unnamed, { n: String(at + 1) });
      row.append(title, ` ${reason}`);
      return row;
    }));
    this.failures.hidden = !failed.length;
    this.show(...(failed.length ? ["retry", "close"] : ["close"]));
    this.button("close").focus();
  }

  leave() {
    for (const image of this.waiting()) this.replace(image.id);
    this.close();
  }

  close() {
    // What stays in the text is a note like any other words.
    for (const { id, note, state } of this.images) if (state !== "done") this.replace(id, { text: note });
    this.forget();
    this.panel.hidden = true;
    this.onClose();
  }

  forget() {
    this.images = [];
    this.failures.hidden = true;
  }

  sentence(name, count) {
    return fill(this.words[count === 1 ? `${name}One` : `${name}Many`], { n: String(count) });
  }

  say(name, count) {
    this.panel.hidden = false;
    this.said.textContent = this.sentence(name, count);
  }

  button(name) {
    return this.panel.querySelector(`[data-images=${name}]`);
  }

  show(...names) {
    for (const button of this.panel.querySelectorAll("[data-images]")) button.hidden = !names.includes(button.dataset.images);
    this.progress.hidden = !names.includes("cancel");
  }
}
