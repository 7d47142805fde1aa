import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { transform } from "@astrojs/compiler";
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { createSSRApp, h } from "vue";
import { renderToString } from "vue/server-renderer";
import { richTextToHtml } from "../src/richtext/html.js";
import { RichText as ReactText } from "../src/richtext/react.js";
import { RichText as VueText } from "../src/richtext/vue.js";

const text = (value: string, ...marks: object[]) => ({ type: "text", text: value, ...(marks.length ? { marks } : {}) });
const link = (href: string, more: object = {}) => ({ type: "link", attrs: { href, ...more } });
const bold = { type: "bold" };
const paragraph = (...content: object[]) => ({ type: "paragraph", content });
const doc = (...content: object[]) => ({ type: "doc" as const, content });

async function vue(document: ReturnType<typeof doc>): Promise<string> {
  const html = await renderToString(createSSRApp({ render: () => h(VueText, { document }) }));
  // The comments that mark a fragment.
  return html.replace(/<!--[[\]]-->/g, "");
}

const cases: [string, ReturnType<typeof doc>, string][] = [
  [
    "headings with ids, and escaped text",
    doc({ type: "heading", attrs: { level: 2, id: "a-b" }, content: [text("A & <b>")] }),
    '<h2 id="a-b">A &amp; &lt;b&gt;</h2>',
  ],
  [
    "one link around a bold word, to the present address of a post",
    doc(paragraph(text("see ", link("/blog/x", { post: { id: "1", url: "/blog/x" } })), text("this", bold, link("/blog/x", { post: { id: "1", url: "/blog/x" } })))),
    '<p><a href="/blog/x">see <strong>this</strong></a></p>',
  ],
  [
    "links in a new tab without access to the page",
    doc(paragraph(text("out", link("https://a.example/", { target: "_blank", title: "T" })))),
    '<p><a href="https://a.example/" title="T" target="_blank" rel="noopener noreferrer">out</a></p>',
  ],
  ["no unsafe address", doc(paragraph(text("x", link("javascript:alert(1)")), text("y", link("//evil.example")))), "<p>xy</p>"],
  ["no address with a hidden scheme", doc(paragraph(text("x", link("java\tscript:alert(1)")))), "<p>x</p>"],
  [
    "lists, with a plain first paragraph",
    doc({ type: "orderedList", attrs: { start: 3, type: "a" }, content: [{ type: "listItem", content: [paragraph(text("one")), { type: "bulletList", content: [{ type: "listItem", content: [paragraph(text("two"))] }] }] }] }),
    '<ol start="3" type="a"><li>one<ul><li>two</li></ul></li></ol>',
  ],
  [
    "code, with its language",
    doc({ type: "codeBlock", attrs: { language: "python" }, content: [text("a < b")] }),
    '<pre><code class="language-python">a &lt; b</code></pre>',
  ],
  ["quotes, rules and line breaks", doc({ type: "blockquote", content: [paragraph(text("a"), { type: "hardBreak" }, text("b"))] }), "<blockquote><p>a<br>b</p></blockquote>"],
  ["all other marks", doc(paragraph(...["italic", "strike", "superscript", "subscript", "code"].map((type) => text("x", { type })))), "<p><em>x</em><s>x</s><sup>x</sup><sub>x</sub><code>x</code></p>"],
  [
    "images with a caption or a place as figures",
    doc(paragraph({ type: "image", attrs: { src: "/a.jpg", alt: "A", caption: "C <b>", align: "left", size: "huge" } })),
    '<figure class="rich-figure align-left"><img src="/a.jpg" alt="A" loading="lazy"><figcaption>C &lt;b&gt;</figcaption></figure>',
  ],
  ["nodes of later versions as their text", doc({ type: "video", content: [text("a film")] }), "<p>a film</p>"],
];

for (const [name, document, html] of cases) {
  test(`renderers show ${name}`, async () => {
    const plain = (rendered: string) => rendered.replace(/<(br|hr|img[^>]*?)\/>/g, "<$1>").replaceAll("&#x27;", "&#39;");
    assert.equal(richTextToHtml(document), html);
    assert.equal(plain(renderToStaticMarkup(createElement(ReactText, { document }))), html);
    assert.equal(plain(await vue(document)), html);
  });
}

test("images and tables have their attributes", async () => {
  const document = doc(
    paragraph({ type: "image", attrs: { src: "https://cms.example/media/a.jpg", alt: 'A "cat"', mediaId: "1" } }),
    { type: "table", content: [{ type: "tableRow", content: [{ type: "tableHeader", attrs: { colspan: 2, align: "right" }, content: [paragraph(text("h"))] }] }] },
  );

  const html = richTextToHtml(document);
  assert.match(html, /<img src="https:\/\/cms\.example\/media\/a\.jpg" alt="A &quot;cat&quot;" loading="lazy">/);
  assert.match(html, /<th colspan="2" class="align-right">h<\/th>/);
  const react = renderToStaticMarkup(createElement(ReactText, { document }));
  assert.match(react, /<th colSpan="2" class="align-right">h<\/th>/i);
  assert.match(await vue(document), /<th colspan="2" class="align-right">h<\/th>/);
});

test("figures stand between the paragraphs of the text around them", () => {
  const image = { type: "image", attrs: { src: "/a.jpg", alt: "A", size: "small" } };
  const html = richTextToHtml(doc(paragraph(text("a"), { type: "hardBreak" }, image, text("b"))));

  assert.match(html, /^<p>a<\/p>\s*<figure class="rich-figure size-small"><img [^>]*><\/figure>\s*<p>b<\/p>$/);
});

test("nothing is shown for no document", () => {
  assert.equal(richTextToHtml(null), "");
  assert.equal(renderToStaticMarkup(createElement(ReactText, { document: undefined })), "");
});

test("a framework's own component can be the link", () => {
  const Own = ({ href }: { href: string }) => createElement("b", null, href);
  const document = doc(paragraph(text("x", link("/a"))));

  assert.equal(renderToStaticMarkup(createElement(ReactText, { document, components: { a: Own } })), "<p><b>/a</b></p>");
});

test("the component of Astro compiles and renders the HTML of the document", async () => {
  const source = readFileSync(new URL("../../src/richtext/RichText.astro", import.meta.url), "utf8");

  const { code, diagnostics } = await transform(source, { filename: "RichText.astro" });

  assert.deepEqual(diagnostics, []);
  assert.match(code, /richTextToHtml\(Astro\.props\.document\)/);
});
