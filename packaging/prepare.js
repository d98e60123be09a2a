/**
 * What `npm ci` runs at its end: builds, where there is what builds. An installation without development's
 * packages runs the sources. Plain JavaScript: the runtime that installs may be an old one.
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
  // npm omits the binary of the bundler if the Node of npm is too old for it. The service does not need the
  // bundler. This script runs on the bundled Node; the user agent of npm states the Node of npm.
  const npm = process.env['npm_config_user_agent'] ?? ''
  const node = /node\/v(\S+)/.exec(npm)?.[1] ?? process.versions.node
  process.stderr.write(
    `verdict: all is there to run it, from its sources. Not built, since npm runs on Node ${node}: to make a package, or to run the ` +
      `tests, run npm ci again with Node 20.19 or newer first on the PATH. (${String(error).split('\n', 1)[0]})\n`,
  )
}
