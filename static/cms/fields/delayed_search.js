// A search that starts when the user pauses. Code that chooses a result by key awaits `settle` first, because until the
// response arrives the list shows the results of an older query.

export class DelayedSearch {
  /**
   * `run(isCurrent)` fetches the results and shows them only if `isCurrent()` is still true. It returns a promise of
   * false if it failed.
   */
  constructor(milliseconds, run) {
    Object.assign(this, { milliseconds, run, number: 0, timer: undefined, running: undefined });
  }

  /** Search after a pause, and ignore the results of a search in progress. */
  plan(milliseconds = this.milliseconds) {
    this.cancel();
    this.timer = setTimeout(() => this.start(), milliseconds);
  }

  /** Search without a pause. */
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

  /**
   * Wait for the results, skipping the pause. Resolves to false if the search failed or the query changed meanwhile.
   */
  async settle() {
    if (this.timer !== undefined) this.start();
    const { number } = this;
    return (await this.running) !== false && number === this.number;
  }
}
