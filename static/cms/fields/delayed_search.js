// A search that waits for a pause of the typing. A key that takes what is found asks `settle` first: what the list shows
// until the result arrives is for other words.

export class DelayedSearch {
  /** `run(isCurrent)` fetches and shows what is found, unless `isCurrent()` is false by then; it answers false where it failed. */
  constructor(milliseconds, run) {
    Object.assign(this, { milliseconds, run, number: 0, timer: undefined, running: undefined });
  }

  /** More was typed: search after a pause. What is on its way is not for these words any more. */
  plan(milliseconds = this.milliseconds) {
    this.cancel();
    this.timer = setTimeout(() => this.start(), milliseconds);
  }

  /** Search at once. */
  start() {
    this.cancel();
    const mine = this.number;
    const running = this.run(() => mine === this.number).catch(() => false).finally(() => {
      if (this.running === running) this.running = undefined;
    });
    this.running = running;
    return running;
  }

  cancel() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.running = undefined;
    this.number += 1;
  }

  get isPending() {
    return this.timer !== undefined || this.running !== undefined;
  }

  /** Wait for the result of what is typed, without the pause. False where it failed, or more was typed meanwhile. */
  async settle() {
    if (this.timer !== undefined) this.start();
    const { number } = this;
    return (await this.running) !== false && number === this.number;
  }
}
