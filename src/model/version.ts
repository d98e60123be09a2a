/** Version of this release, from `package.json`. All other code imports it from here. */
import manifest from '#package.json' with { type: 'json' }

export const VERSION: string = manifest.version
