/**
 * Clients that are generated from the `/openapi.json` of a running service. For each client, a program in
 * `generators` makes the same calls. Programs in one language share these calls.
 */
import { cpSync, existsSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { describe, expect, test, type TestContext } from 'vitest'
import { besideSuites, expectRow, keptFolder, reasonAgainst, run } from './published.ts'
import { ownDirectory } from '../support/processes/temporary-directories.ts'
import { pythonWith } from './python-environment.ts'
import { API_KEY, startedService } from '#testing/processes/running-service.ts'

const OPENAPI_GENERATOR = '7.17.0'
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'
const DOCUMENTS = ['d1', 'd2', 'd3']

/** A folder with the OpenAPI document of a service. */
interface Ground {
  readonly folder: string
  readonly description: string
  readonly address: string
}

async function ground(): Promise<Ground> {
  const service = await startedService()
  await service.createDocumentModel()
  for (const user of ['alice', 'bob']) await service.user(user)
  for (const document of DOCUMENTS) await service.assign('alice', 'viewer', `document:${document}`)
  const folder = ownDirectory()
  const description = join(folder, 'openapi.json')
  const response = await fetch(`${service.address}/openapi.json`)
  writeFileSync(description, await response.text())
  return { folder, description, address: service.address }
}

/** Expects the results that the program of a generated client must print. */
function expectStory(generator: string, printed: string, left = ''): void {
  expect(JSON.parse(printed)).toEqual({
    check: true,
    bulk: [true, false],
    before: false,
    after: true,
    pages: DOCUMENTS.map(document => [document]),
  })
  const works = 'compiles; check, bulk, group, paged search'
  expectRow([generator, works, left, '[generators](../test/clients/generators.test.ts)'])
}

/** Skips the test if an installation fails. */
async function need(context: TestContext, what: string, install: () => Promise<unknown>): Promise<void> {
  const reason = await reasonAgainst(install)
  if (reason !== null) context.skip(`${what} is not available: ${reason}`)
}

describe(`openapi-generator ${OPENAPI_GENERATOR}`, () => {
  /** Generates a client and returns its folder. */
  async function generate(context: TestContext, { folder, description }: Ground, language: string) {
    const kept = keptFolder('openapi-generator')
    const jar = join(kept, `openapi-generator-cli-${OPENAPI_GENERATOR}.jar`)
    await need(context, 'openapi-generator', async () => {
      await run('java', ['-version'])
      const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${OPENAPI_GENERATOR}`
      const fetched = ['--batch-mode', '--quiet', `${COPY}:copy`, artifact, `-DoutputDirectory=${kept}`]
      if (!existsSync(jar)) await run('mvn', fetched, { in: folder })
    })
    const made = join(folder, 'made')
    const named = ['--additional-properties', 'packageName=generated']
    const words = ['generate', '-i', description, '-g', language, '-o', made]
    await run('java', ['-jar', jar, ...words, ...(language === 'go' ? named : [])])
    return made
  }

  const nameOf = (language: string) => `openapi-generator ${OPENAPI_GENERATOR}, ${language}`

  test('the Go client of openapi-generator works', async context => {
    const at = await ground()
    await need(context, 'Go', () => run('go', ['version']))
    const made = await generate(context, at, 'go')
    cpSync(made, join(goModule(at), 'openapi-generator', 'generated'), {
      recursive: true,
      filter: path => !/\/test$|go\.mod$|go\.sum$/.test(path),
    })
    expectStory(nameOf('Go'), await runGo(context, at, 'openapi-generator'))
  })

  test('the Java client of openapi-generator works', async context => {
    const at = await ground()
    const made = await generate(context, at, 'java')
    cpSync(besideSuites('generators/java/Story.java'), join(made, 'src/main/java/Story.java'))
    const quiet = ['--batch-mode', '--quiet', '-DskipTests']
    await need(context, 'libraries of the Java client', () =>
      run('mvn', [...quiet, `${COPY}:copy-dependencies`, '-DoutputDirectory=libraries'], { in: made }),
    )
    await run('mvn', [...quiet, 'compile'], { in: made })
    const classes = `${join(made, 'target/classes')}:${join(made, 'libraries', '*')}`
    expectStory(nameOf('Java'), await run('java', ['-cp', classes, 'Story', at.address, API_KEY]))
  })

  test('the typescript-fetch client of openapi-generator works', async context => {
    const at = await ground()
    const made = await generate(context, at, 'typescript-fetch')
    renameSync(made, join(at.folder, 'generated'))
    expectStory(nameOf('TypeScript'), await runTypeScript(context, at, 'openapi-generator'))
  })

  test('the Python client of openapi-generator works', async context => {
    const at = await ground()
    const made = await generate(context, at, 'python')
    const python = await pythonWithLibraries(context)
    expectStory(nameOf('Python'), await runPython(python, at, 'openapi_generator', made))
  })
})

test('the client of oapi-codegen works', async context => {
  const at = await ground()
  const folder = goModule(at)
  await need(context, 'oapi-codegen', () => run('go', ['mod', 'download'], { in: folder }))
  const words = ['-generate', 'types,client', '-package', 'generated', at.description]
  const code = await run('go', ['tool', 'oapi-codegen', ...words], { in: folder })
  mkdirSync(join(folder, 'oapi-codegen/generated'))
  writeFileSync(join(folder, 'oapi-codegen/generated/api.go'), code)
  expectStory('oapi-codegen 2.8.2', await runGo(context, at, 'oapi-codegen'))
})

test('the client of orval works', async context => {
  const at = await ground()
  const input = at.description
  const output = { target: 'generated.ts', client: 'fetch', mode: 'single', baseUrl: at.address }
  const configuration = `export default ${JSON.stringify({ verdict: { input, output } })}`
  writeFileSync(join(at.folder, 'orval.config.mjs'), configuration)
  await runNode(context, at, 'orval/dist/bin/orval.mjs', ['--config', 'orval.config.mjs'])
  expectStory('orval 8.38.0', await runTypeScript(context, at, 'orval'))
})

test('the client of openapi-typescript works', async context => {
  const at = await ground()
  await runNode(context, at, 'openapi-typescript/bin/cli.js', [at.description, '-o', 'generated.ts'])
  expectStory('openapi-typescript 7.13.0', await runTypeScript(context, at, 'openapi-typescript'))
})

test('the client of @hey-api/openapi-ts works', async context => {
  const at = await ground()
  await runNode(context, at, '@hey-api/openapi-ts/bin/run.js', ['-i', at.description, '-o', 'generated'])
  expectStory('@hey-api/openapi-ts 0.99.0', await runTypeScript(context, at, 'hey-api'))
})

test('the client of openapi-python-client works', async context => {
  const at = await ground()
  const python = await pythonWithLibraries(context)
  const made = join(at.folder, 'generated')
  const words = ['generate', '--path', at.description, '--output-path', made, '--meta', 'none']
  await run(join(python, '../openapi-python-client'), words)
  const left = 'it omits the two operations of type `application/x-ndjson`'
  const printed = await runPython(python, at, 'openapi_python_client', at.folder)
  expectStory('openapi-python-client 0.29.1', printed, left)
})

/** Copies the Go module with the programs, into which the client is generated. */
function goModule({ folder }: Ground): string {
  const module = join(folder, 'go')
  cpSync(besideSuites('generators/go'), module, { recursive: true })
  return module
}

async function runGo(context: TestContext, at: Ground, name: string): Promise<string> {
  const folder = join(at.folder, 'go')
  await need(context, 'modules of Go', () => run('go', ['mod', 'download'], { in: folder }))
  await run('go', ['build', '-o', 'program', `./${name}`], { in: folder })
  return run(join(folder, 'program'), [at.address, API_KEY])
}

/** Installs the packages of the generators once and links them into the folder of the test. */
async function packages(context: TestContext, { folder }: Ground): Promise<string> {
  const kept = keptFolder('generators-typescript')
  await need(context, 'npm packages', async () => {
    cpSync(besideSuites('generators/typescript/package.json'), join(kept, 'package.json'))
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'], {
      in: kept,
    })
  })
  const modules = join(kept, 'node_modules')
  if (!existsSync(join(folder, 'node_modules'))) symlinkSync(modules, join(folder, 'node_modules'))
  return modules
}

/** Runs a program of a package in the folder of the test. */
async function runNode(context: TestContext, at: Ground, program: string, words: string[]): Promise<void> {
  const modules = await packages(context, at)
  await run(process.execPath, [join(modules, program), ...words], { in: at.folder })
}

async function runTypeScript(context: TestContext, at: Ground, name: string): Promise<string> {
  const modules = await packages(context, at)
  const { folder } = at
  const programs = besideSuites('generators/typescript')
  for (const file of ['story.ts', 'tsconfig.json']) cpSync(join(programs, file), join(folder, file))
  cpSync(join(programs, `${name}.ts`), join(folder, 'main.ts'))
  await run(process.execPath, [join(modules, 'typescript/bin/tsc'), '-p', folder])
  const bundle = await rolldown({ input: join(folder, 'main.ts'), platform: 'node', logLevel: 'silent' })
  await bundle.write({ file: join(folder, 'main.mjs') })
  await bundle.close()
  return run(process.execPath, [join(folder, 'main.mjs'), at.address, API_KEY])
}

/** The interpreter of an environment with the generator and the libraries of generated clients. */
function pythonWithLibraries(context: TestContext): Promise<string> {
  const requirements = ['-r', besideSuites('generators/python/requirements.txt')]
  return pythonWith(context, 'generators-python', requirements)
}

/** Runs the program `name` with the generated package in `made`. */
function runPython(python: string, at: Ground, name: string, made: string): Promise<string> {
  cpSync(besideSuites('generators/python'), at.folder, { recursive: true })
  const env = { PYTHONPATH: `${at.folder}:${made}`, PYTHONDONTWRITEBYTECODE: '1' }
  return run(python, [join(at.folder, `${name}.py`), at.address, API_KEY], { env })
}
