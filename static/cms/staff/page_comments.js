// Comments on the post of a page: the threads in the panel of the staff tools, and a comment on a module of the page.

import { fetchJson } from "../http.js";
import { button, make } from "./elements.js";

export const WORDS = {
  en: {
    addComment: "Write a comment", thread: "Comment", replyOne: "1 reply", replyMany: "{n} replies", due: "due {when}", assigned: "assigned to {name}",
    edit: "Open in the editor", commentSaved: "The comment is saved.", former: "Former member", open: "open", reply: "Reply",
    help: "@name notifies a person. Visitors never see comments.",
  },
  de: {
    addComment: "Kommentar schreiben", thread: "Kommentar", replyOne: "1 Antwort", replyMany: "{n} Antworten", due: "fällig {when}",
    assigned: "für {name}", edit: "Im Editor öffnen", commentSaved: "Der Kommentar ist gespeichert.", former: "Ehemaliges Mitglied",
    open: "offen", reply: "Antworten", help: "@Name benachrichtigt eine Person. Besucher sehen Kommentare nie.",
  },
};

const PER_PAGE = 100;
const MODULE = "[data-post-module-id]";
/** How long a module stays outlined after a jump to it. */
const OUTLINE_MS = 2500;

export class PageComments {
  /** Load the open threads of a post. Resolves to null if the user may not read them. */
  static async load(postId, options) {
    if (!options.mayRead) return null;
    const address = `/api/posts/${encodeURIComponent(postId)}/comments`;
    try {
      return new PageComments(postId, address, await fetchJson(`${address}?status=open&per_page=${PER_PAGE}`), options);
    } catch {
      return null; // the post is outside of the user's scopes
    }
  }

  constructor(postId, address, page, { say, language, mayWrite }) {
    Object.assign(this, { postId, address, say, language, mayWrite, threads: page.data, hasMore: page.meta.total > page.data.length });
  }

  /** `onChange(id)` is called after a change, with the id of the row that had the focus. */
  attach({ root, announce, onChange }) {
    Object.assign(this, { root, announce, onChange });
  }

  get openCount() {
    return this.threads.filter(({ status }) => status === "open").length;
  }

  /** The rows of the panel, each with its time. */
  rows() {
    return this.threads.map((thread) => ({ at: thread.createdAt, element: this.row(thread) }));
  }

  row(thread) {
    const { say } = this;
    const isOpen = thread.status === "open";
    const module = moduleOf(thread);
    const count = thread.replies.length;
    const facts = [
      say.thread,
      thread.author?.username ?? say.former,
      this.when(thread.createdAt),
      isOpen ? "" : say.resolved,
      count === 1 ? say.replyOne : count > 1 && say.replyMany.replace("{n}", count),
      thread.assignee && say.assigned.replace("{name}", thread.assignee.username),
      thread.dueAt && say.due.replace("{when}", this.when(thread.dueAt)),
    ];
    const link = make("a", { href: `/admin/content/post/${encodeURIComponent(this.postId)}/change/#comments` }, [say.edit]);
    return make("li", { "data-note": thread.id, "data-thread": thread.id, class: isOpen ? "" : "resolved" }, [
      make("p", { class: "quiet" }, [facts.filter(Boolean).join(" · ")]),
      thread.passage && make("blockquote", { dir: "auto" }, [thread.passage.quote]),
      make("p", { class: "text", dir: "auto" }, [thread.body]),
      ...thread.replies.map((reply) => make("p", { class: "text reply", dir: "auto" }, [`${reply.author?.username ?? say.former}: ${reply.body}`])),
      make("p", { class: "buttons" }, [
        module && button(say.where, () => this.show(module)),
        this.mayWrite && button(isOpen ? say.resolve : say.reopen, () => this.settle(thread)),
        link,
      ]),
    ]);
  }

  when(time) {
    return new Date(time).toLocaleString(this.language, { dateStyle: "medium", timeStyle: "short" });
  }

  show(module) {
    module.scrollIntoView({ block: "center" });
    const { left, top, width, height } = module.getBoundingClientRect();
    const box = this.root.appendChild(make("div", { class: "box spot" }));
    Object.assign(box.style, { left: `${left + scrollX}px`, top: `${top + scrollY}px`, width: `${width}px`, height: `${height}px` });
    setTimeout(() => box.remove(), OUTLINE_MS);
  }

  async settle(thread) {
    const status = thread.status === "open" ? "resolved" : "open";
    try {
      Object.assign(thread, await fetchJson(`/api/comments/${thread.id}`, { method: "PATCH", body: { status } }));
      this.announce(`${this.say.thread}: ${thread.status === "open" ? this.say.open : this.say.resolved}`);
    } catch {
      this.announce(this.say.failed);
    }
    this.onChange(thread.id);
  }

  /** Start a thread about the module of an element, or about the post. `ask(send, help)` shows the form. */
  async add(element, ask) {
    const id = element.closest(MODULE)?.dataset.postModuleId;
    const path = id ? `modules.${id}` : null;
    const thread = await ask((body) => fetchJson(this.address, { body: { body, path } }), this.say.help);
    if (!thread) return;
    this.threads.unshift(thread);
    // Mentions that reached nobody.
    const warnings = thread.warnings.map(({ mention, message }) => `${mention}: ${message}`);
    this.announce([this.say.commentSaved, ...warnings].join(" "));
  }
}

/** Return the module of the page that a thread is about, if it is there. */
function moduleOf({ path, changePath }) {
  const [kind, id] = (path || changePath || "").split(".");
  return kind === "modules" && id ? document.querySelector(`[data-post-module-id="${CSS.escape(id)}"]`) : null;
}
