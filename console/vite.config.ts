/**
 * How the console is bundled: one page, which loads its files from `console/` beside it, by relative paths, so that it works behind a
 * proxy that puts a path in front. `npm run console` serves it while one works on it, and asks the service at `VERDICT` the rest.
 */
import optimizeLocales from '@react-aria/optimize-locales-plugin'
import { defineConfig } from 'vite'
import { LANGUAGES } from './src/texts/languages.ts'

const SERVICE = process.env['VERDICT'] ?? 'http://127.0.0.1:7766'
const ASKED = [
  '/allowed',
  '/access',
  '/user-permissions',
  '/authorized_users',
  '/v2',
  '/healthy',
  '/ready',
  '/fresh',
  '/metrics',
  '/openapi.json',
]

export default defineConfig({
  base: './',
  // The components' own words, as those of a screen reader, in no language but ours. They have no British English.
  plugins: [
    {
      ...optimizeLocales.vite({ locales: Object.keys(LANGUAGES) }),
      enforce: 'pre',
    },
  ],
  build: {
    assetsDir: 'console',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: 'es2024',
    // Licences of what is bundled are in NOTICE.
    rolldownOptions: {
      output: { comments: false },
      // Packages say `use client` of what runs in browsers. Here all does.
      onLog: (level, log, say) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') say(level, log)
      },
    },
  },
  server: { proxy: Object.fromEntries(ASKED.map(path => [path, SERVICE])) },
})
