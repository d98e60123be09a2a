/** Preloaded into every thread of a process. Writes each imported package to the file in `LOADED`. */
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'

const path = process.env['LOADED']!
registerHooks({
  resolve(specifier, context, next) {
    if (!/^[./#]|^(node|file):/.test(specifier)) appendFileSync(path, `${specifier}\n`)
    return next(specifier, context)
  },
})
