/**
 * Stores the code that V8 has compiled in files, so that the next start does not compile it again. The files
 * are in the checkout or the package: a user who can write there can change the code as well. If the
 * directory is not writable, each start compiles the code. V8 uses a file only if the source text, the Node
 * version and the flags are the same. `NODE_COMPILE_CACHE` selects another directory;
 * `NODE_DISABLE_COMPILE_CACHE` disables the cache.
 */
import module from 'node:module'
import { compiledFolder } from './quick-entry.js'

/** Enables the cache for this thread and for threads that it starts later. */
export function keepCompiled(): void {
  if (module.enableCompileCache(compiledFolder).directory === undefined) return
  // Threads read the directory from this variable.
  process.env['NODE_COMPILE_CACHE'] ??= compiledFolder
}

/**
 * Writes compiled code that the files do not contain yet, including functions that were called since the
 * start.
 */
export function writeCompiled(): void {
  module.flushCompileCache()
}
