// The fields of a form, each by its data attribute; those in parts that are added later, too.

import { linkField } from "./link.js";
import { mediaField } from "./media.js";
import { manyReferences, referenceField } from "./reference.js";
import { counter, reset } from "./small.js";
import { each } from "./words.js";

each("input[data-link]", linkField);
each("select[data-media]", mediaField);
each("select[data-reference]", referenceField);
each("fieldset[data-many]", manyReferences);
each("[data-counter]", counter);
each("[data-reset]", reset);
