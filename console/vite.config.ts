/**
 * Bundles the console into one page. The page loads its files from `console/` by relative paths, so that it
 * also works behind a proxy that adds a path prefix. `npm run console` starts a development server, which
 * forwards API requests to the service at `VERDICT`.
 */
import optimizeLocales from '@react-aria/optimize-locales-plugin'
import { defineConfig } from 'vite'
import { LANGUAGES } from './src/texts/languages.ts'

const SERVICE = process.env['VERDICT'] ?? 'http://127.0.0.1:7766'
const API_PATHS = [
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
  // Includes the texts of the components, such as those for screen readers, only in the languages of the
  // console. The components have no British English.
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
    // NOTICE contains the licenses of the bundled packages.
    rolldownOptions: {
      output: { comments: false },
      // Packages mark browser code with `use client`. The whole console runs in browsers.
      onLog: (level, log, report) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
    },
  },
  server: { proxy: Object.fromEntries(API_PATHS.map(path => [path, SERVICE])) },
})
