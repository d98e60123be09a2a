/**
 * What `npm ci` runs at its end: builds, where there is what builds. An installation without development's packages runs the sources.
 * Plain JavaScript: the runtime that installs may be an old one.
 */
try {
  import.meta.resolve('rolldown')
} catch {
  process.exit(0)
}
try {
  const { build } = await import('./build.ts')
  await build()
} catch (error) {
  // A bundler without a binary for this platform, as one: the service does not need it.
  process.stderr.write(`not built, the sources run: ${error}\n`)
}
