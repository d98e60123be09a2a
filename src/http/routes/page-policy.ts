/** Content security policies (`Content-Security-Policy`) of the pages of the service. */

/**
 * Policy that allows only files of the service: no inline scripts or styles, no content of other hosts, and
 * no embedding of the page in frames.
 */
export const OWN_FILES_ONLY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // `data:` is needed because style sheets contain icons as data URLs.
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * In addition to `OWN_FILES_ONLY`, forbids scripts to interpret text as markup, so that names of users or
 * tenants cannot inject scripts.
 */
export const TEXT_STAYS_TEXT = `${OWN_FILES_ONLY}; require-trusted-types-for 'script'; trusted-types 'none'`
