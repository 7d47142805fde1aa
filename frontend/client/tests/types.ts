// Compiled, never run: what the types allow and what they refuse.

import { createClient } from "../src/index.js";
import type { Site } from "./sample_site.js";

const cms = createClient<Site>({ baseUrl: "https://cms.example" });

export async function narrowed(): Promise<void> {
  const whole = await cms.posts.list({ type: "blog" });
  whole.data[0]?.modules.map((module) => (module.type === "hero" ? module.props.ctaUrl : module.props.content));

  const sparse = await cms.posts.list({ type: "blog", fields: ["title", "customFields"] });
  const time: number | undefined = sparse.data[0]?.customFields.readingTime;
  // @ts-expect-error was not asked for
  sparse.data[0]?.url;
  // @ts-expect-error nothing is included
  sparse.included;

  const several = await cms.posts.list({ fields: ["type", "customFields"], include: ["media", "terms"] });
  for (const post of several.data) {
    if (post.type === "testimonial") post.customFields.quote.trim();
    // @ts-expect-error a testimonial has no quote before its type is known
    post.customFields.quote;
  }
  const alt: string | undefined = several.included.media["id"]?.alt;
  // @ts-expect-error posts were not included
  several.included.posts;

  // @ts-expect-error no such field
  await cms.posts.list({ fields: ["titel"] });
  // @ts-expect-error no such type
  await cms.posts.list({ type: "blogs" });
  // @ts-expect-error no such locale
  await cms.posts.list({ locale: "fr" });
  // @ts-expect-error nothing of the kind can be included
  await cms.posts.list({ include: ["author"] });

  for await (const post of cms.posts.all({ type: "testimonial", fields: ["title"] })) post.title.trim();

  const found = await cms.resolve("/blog/x", { fields: ["title", "url"] });
  if (found?.type === "post") found.post.title.trim();
  if (found?.type === "list") found.postType satisfies "blog" | "testimonial";
  if (found?.type === "redirect") found.redirect.toPath.trim();
  // @ts-expect-error may be a redirect, or nothing
  found.post;

  const shown = await cms.resolve("/blog/x", { include: ["media", "modules.posts"], richtext: "html" });
  if (shown?.type === "post") {
    void [shown.included.media["id"]?.url, shown.included.posts["id"]?.title];
    for (const module of shown.post.modules) if (module.type === "prose") module.props.content.trim();
    // @ts-expect-error terms were not included
    shown.included.terms;
  }
  const listed = await cms.posts.list({ type: "blog", fields: ["title"], include: ["terms"] });
  listed.data[0]?.taxonomyTermIds.map((id) => listed.included.terms[id]?.name.trim());
  // @ts-expect-error a document is no string
  whole.data[0]?.modules.map((module) => module.type === "prose" && module.props.content.trim());

  const menu = await cms.menu("main", { locale: "de" });
  menu?.items.map((item) => item.label.trim());
  void [time, alt];
}
