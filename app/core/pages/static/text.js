"use strict";
// Texts of scripts in the reader's language. English is the source; messages/LANGUAGE.js has the others.

/** A text with its values: `_("Step %(step)s", { step })`. */
globalThis._ = (message, values = {}) => filled(globalThis.juradoMessages?.texts[message] ?? message, values);

/** A text about a count, which is %(num)s in it. */
globalThis.ngettext = (one, many, num, values = {}) => {
  const known = globalThis.juradoMessages;
  const forms = known?.texts[one];
  const form = Array.isArray(forms) ? forms[known.plural(num)] : num === 1 ? one : many;
  return filled(form, { num, ...values });
};

function filled(text, values) {
  return text.replace(/%(?:\((\w+)\)s|%)/g, (_whole, name) => (name === undefined ? "%" : String(values[name])));
}
