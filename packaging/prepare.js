/**
 * Runs at the end of `npm ci`. If the bundler is installed, this script builds the project. In an
 * installation without development dependencies, there is no bundler, and the service runs from its sources.
 * The file is plain JavaScript, because an old runtime can run the installation.
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
  // If the Node.js that runs npm is too old for the binary of the bundler, npm does not install this binary.
  // The service does not need the bundler. This script runs with the bundled Node.js, so the version of the
  // Node.js that runs npm is taken from the user agent of npm.
  const npm = process.env['npm_config_user_agent'] ?? ''
  const node = /node\/v(\S+)/.exec(npm)?.[1] ?? process.versions.node
  process.stderr.write(
    `verdict: installed without a build, because npm runs on Node ${node}. The service runs from its sources. To make a ` +
      `package or to run the tests, put Node 20.19 or newer first on the PATH and run npm ci again. ` +
      `(${String(error).split('\n', 1)[0]})\n`,
  )
}
