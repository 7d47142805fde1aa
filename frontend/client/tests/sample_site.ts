// A small site of the form that `manage.py generate_types typescript` writes.

export interface RichTextDocument {
  type: "doc";
  content?: { type: "paragraph" }[];
}
interface Common {
  id: string;
  title: string;
  url: string;
  taxonomyTermIds?: string[];
}
export interface BlogListed extends Common {
  type: "blog";
  modules: Module[];
}
export interface BlogPost extends BlogListed {
  customFields: { readingTime: number };
}
export interface TestimonialListed extends Common {
  type: "testimonial";
  modules: Module[];
}
export interface TestimonialPost extends TestimonialListed {
  customFields: { quote: string; rating: number | null };
}
export type Module =
  | { type: "prose"; props: { content: RichTextDocument } }
  | { type: "hero"; props: { title: string; ctaUrl: string } };
export interface Operations {
  menus_by_slug_retrieve: { answer: { items: { label: string; url: string }[] } };
}
export interface Site {
  locales: "en" | "de";
  posts: { blog: BlogPost; testimonial: TestimonialPost };
  listed: { blog: BlogListed; testimonial: TestimonialListed };
  included: {
    media: Record<string, { url: string; alt: string }>;
    terms: Record<string, { id: string; name: string }>;
    posts: Record<string, BlogListed | TestimonialListed>;
  };
  redirect: { type: "redirect"; redirect: { toPath: string; status: 301 | 302 } };
  list: { type: "list"; postType: "blog" | "testimonial"; page: number };
  module: Module;
  operations: Operations;
}
