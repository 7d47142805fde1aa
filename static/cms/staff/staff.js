// Loads what is for staff alone. Visitors get these lines and nothing more.

const own = document.querySelector("script[data-pins]");
if (own && document.body.dataset.postId && /(?:^|; )cms_staff=1/.test(document.cookie)) {
  import(own.dataset.pins).then((pins) => pins.start(own.dataset.pinsStyle)).catch(() => {});
}
