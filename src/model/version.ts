/** The release, as `package.json` says it: the one place of it. */
import manifest from '#package.json' with { type: 'json' }

export const VERSION: string = manifest.version
