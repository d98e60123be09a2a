/**
 * Checks the requirements of a release one after the other (`npm run release:check`, docs/releases.md).
 * Builds the package, and writes the package and its bill of materials to `.artifacts/release`. The exit code
 * is 1 if a requirement is not met. If a check is not possible on this machine, this is reported.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isBuilt } from '../src/composition/process/built-form.ts'
import { build } from './build.ts'
import { DOCUMENT_PATHS, documentOf, documentText } from './documents.ts'
import { ACCEPTED_LICENCES, componentsOf, sbom } from './notice.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const ARTIFACTS = join(ROOT, '.artifacts/release')
/** Maximum number of files in the package, in addition to the built code. */
const PACKAGE_FILES_MAX = 100
const PACKAGE_FOLDERS = ['bin', 'deploy', 'dist', 'docs']
const PACKAGE_NEEDS = [
  'LICENSE',
  'NOTICE',
  'README.md',
  'CHANGELOG.md',
  'package.json',
  'bin/verdict.js',
  'dist/start.js',
]

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
}

/**
 * Result of a check. It contains the requirements that are not met, the reason why the check was not
 * possible, or a description of the result.
 */
interface Finding {
  readonly missing?: readonly string[]
  readonly notChecked?: string
  readonly found?: string
}

function textOf(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8')
}

const manifest = JSON.parse(textOf('package.json')) as Manifest

const CHECKS: Readonly<Record<string, () => Finding | Promise<Finding>>> = {
  version() {
    const { version: locked } = JSON.parse(textOf('package-lock.json')) as Manifest
    const isVersion = /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(manifest.version)
    return {
      missing: [
        ...(isVersion ? [] : [`the version of package.json is not valid: ${manifest.version}`]),
        ...(locked === manifest.version
          ? []
          : [`package-lock.json has version ${locked}, package.json ${manifest.version}`]),
      ],
      found: manifest.version,
    }
  },

  changelog() {
    const heading = new RegExp(
      String.raw`^## \[${manifest.version.replaceAll('.', String.raw`\.`)}\] - \d{4}-\d\d-\d\d$`,
      'm',
    )
    const isThere = heading.test(textOf('CHANGELOG.md'))
    return { missing: isThere ? [] : [`CHANGELOG.md has no section "## [${manifest.version}] - YYYY-MM-DD"`] }
  },

  licences() {
    const components = componentsOf(sbom())
    const refused = components.filter(({ licence }) => !ACCEPTED_LICENCES.includes(licence ?? ''))
    return {
      missing: [
        ...['LICENSE', 'NOTICE']
          .filter(file => !existsSync(join(ROOT, file)))
          .map(file => `there is no ${file}`),
        ...refused.map(
          ({ name, version, licence }) => `${name} ${version} has the license ${licence ?? '(unknown)'}`,
        ),
      ],
      found: `${components.length} packages`,
    }
  },

  'bill of materials'() {
    const bill = sbom()
    writeFileSync(join(ARTIFACTS, 'sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
    const isOne = bill.bomFormat === 'CycloneDX' && bill.components.length > 0
    return {
      missing: isOne ? [] : ['npm sbom returned no bill of materials'],
      found: '.artifacts/release/sbom.cdx.json',
    }
  },

  async documents() {
    const stale = []
    for (const path of DOCUMENT_PATHS) {
      const text = documentText(path)
      if ((await documentOf(path, text)) !== text) stale.push(`${path} is not as npm run documents writes it`)
    }
    return { missing: stale }
  },

  'stores of released versions'() {
    const [major, minor] = manifest.version.split('.')
    const path = `test/system/releases/${major}.${minor}.0`
    return { missing: existsSync(join(ROOT, path)) ? [] : [`there is no ${path}: npm run release:fixture`] }
  },

  async package() {
    if (!isBuilt()) await build()
    // The scripts of the package are skipped, because they would build the package again.
    const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', ARTIFACTS]
    const [packed] = JSON.parse(
      execFileSync('npm', args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }),
    ) as [{ readonly filename: string; readonly files: readonly { readonly path: string }[] }]
    const paths = packed.files.map(({ path }) => path)
    const beside = paths.filter(path => !path.startsWith('dist/'))
    const strange = beside.filter(
      path => path.includes('/') && !PACKAGE_FOLDERS.includes(path.split('/')[0]!),
    )
    return {
      missing: [
        ...PACKAGE_NEEDS.filter(path => !paths.includes(path)).map(path => `the package has no ${path}`),
        ...strange.map(path => `${path} does not belong to the package`),
        ...(beside.length <= PACKAGE_FILES_MAX
          ? []
          : [`${beside.length} files in addition to the built code`]),
        ...(manifest.private ? ['package.json says private: npm refuses to publish it'] : []),
      ],
      found: `.artifacts/release/${packed.filename}, ${paths.length} files`,
    }
  },

  'image context'() {
    const dockerfile = textOf('Dockerfile')
    const letIn = textOf('.dockerignore')
      .split('\n')
      .flatMap(line => (line.startsWith('!') ? [line.slice(1)] : []))
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, sources]) =>
      sources!.split(' '),
    )
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base!)
    return {
      missing: [
        ...copied
          .filter(path => !existsSync(join(ROOT, path)))
          .map(path => `the Dockerfile copies ${path}, which does not exist`),
        ...copied
          .filter(path => !letIn.includes(path))
          .map(path => `.dockerignore excludes ${path}, which the Dockerfile copies`),
        ...[...new Set(bases)]
          .filter(base => !base.includes('@sha256:'))
          .map(
            base => `the base ${base} is not pinned by its digest: docker buildx imagetools inspect ${base}`,
          ),
      ],
    }
  },

  image() {
    const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0
    if (!hasDocker) return { notChecked: 'no Docker daemon is running' }
    const { status, stderr } = spawnSync(
      'docker',
      ['build', '--build-arg', `VERSION=${manifest.version}`, '-t', `verdict:${manifest.version}`, '.'],
      {
        cwd: ROOT,
        encoding: 'utf8',
      },
    )
    return { missing: status === 0 ? [] : [`the image does not build: ${stderr.trim().split('\n').at(-1)}`] }
  },
}

rmSync(ARTIFACTS, { recursive: true, force: true })
mkdirSync(ARTIFACTS, { recursive: true })
for (const [what, check] of Object.entries(CHECKS)) {
  const { missing = [], notChecked, found } = await check()
  if (notChecked !== undefined) process.stdout.write(`not checked    ${what}: ${notChecked}\n`)
  else if (missing.length === 0) process.stdout.write(`ok             ${what}${found ? `: ${found}` : ''}\n`)
  for (const sentence of missing) process.stdout.write(`MISSING        ${what}: ${sentence}\n`)
  if (missing.length > 0) process.exitCode = 1
}
