/** The release version, from `package.json`. All other code reads it from here. */
import manifest from '#package.json' with { type: 'json' }

export const VERSION: string = manifest.version
