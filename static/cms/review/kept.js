// Decisions that are not sent yet survive a reload, an edit and a visit elsewhere, as long as the window is open. Each
// is kept with the change that it was made on: where that moved, it counts no more, and the reader is told.

export function kept(key) {
  const read = () => {
    try {
      return JSON.parse(sessionStorage.getItem(key)) ?? {};
    } catch {
      return {};
    }
  };
  return {
    save(cards) {
      const made = {};
      for (const card of cards) {
        const { path, seen, note, words, whole: decision } = card;
        if (card.decision !== "leave" || note) made[path] = { seen, decision, note, words };
      }
      try {
        if (Object.keys(made).length) sessionStorage.setItem(key, JSON.stringify(made));
        else sessionStorage.removeItem(key);
      } catch { /* A full or closed store: the page works without it. */ }
    },
    // What is sent now was seen: if it comes back changed, that is what was decided.
    sent() {
      const made = read();
      for (const one of Object.values(made)) one.sent = true;
      try {
        sessionStorage.setItem(key, JSON.stringify(made));
      } catch { /* As above. */ }
    },
    // Puts back what still holds. Answers how many there were, how many hold, and the cards that moved.
    restore(cards) {
      const made = read();
      const moved = [];
      let count = 0;
      for (const card of cards) {
        const one = made[card.path];
        if (!one) continue;
        if (one.seen !== card.seen) {
          if (!one.sent && (one.decision !== "leave" || Object.keys(one.words ?? {}).length)) moved.push(card);
          continue;
        }
        card.put(one.decision, one.note);
        card.putWords(one.words ?? {});
        if (card.decision !== "leave") count += 1;
      }
      return { total: count + moved.length, count, moved };
    },
  };
}
