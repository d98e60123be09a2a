/** `verdict project` and `verdict env`: creation, display, copies, new names, deletion, and confirmation. */
import { describe, expect, test } from 'vitest'
import { ADMIN_KEY, API_KEY, sharedService } from '#testing/processes/running-service.ts'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { commandFiles, commandsOf, shellCommand } from './command-line.ts'

const { pathOf, written } = commandFiles()
const service = await sharedService()

const run = (args: readonly string[], key = ADMIN_KEY) => commandsOf(service)(args, { key })

/** Runs a command that succeeds, and returns its output. */
async function done<Result>(...args: readonly string[]): Promise<Result> {
  const { code, stdout, stderr } = await run(args)
  expect([args, code, stderr]).toEqual([args, EXIT.yes, ''])
  return JSON.parse(stdout) as Result
}

interface Place {
  readonly id: string
  readonly key: string
  readonly name: string
}

const keysOf = (places: readonly Place[]) => places.map(({ key }) => key)

test('verdict status with a key of the organization reports the service and names the options for counts', async () => {
  const { code, stdout, stderr } = await run(['status'])
  expect([code, JSON.parse(stdout)]).toEqual([
    EXIT.yes,
    expect.objectContaining({ ready: true, counts: null }),
  ])
  expect(stderr).toMatch(/--project and --env/)
})

describe('a project', () => {
  test('is created, listed, shown with its environments, renamed and deleted', async () => {
    expect(await done('project', 'create', 'shop', '--name', 'The shop')).toMatchObject({ name: 'The shop' })
    expect(await done('project', 'create', 'plain')).toMatchObject({ key: 'plain', name: 'plain' })
    expect(keysOf(await done('project', 'list'))).toEqual(
      expect.arrayContaining(['default', 'shop', 'plain']),
    )
    await done('env', 'create', 'live', '--project', 'shop')
    const shown = await done<{ environments: Place[] }>('project', 'show', 'shop')
    expect(keysOf(shown.environments)).toEqual(['live'])
    const { stdout } = await run(['project', 'show', 'shop', '--output', 'table'])
    expect(stdout).toMatch(
      /^PROJECT +NAME +ID +CREATED\nshop +The shop +\S+ +\S+\n\nENVIRONMENT +NAME +ID\nlive +live +\S+\n$/,
    )
    expect(await done('project', 'rename', 'shop', 'Closed')).toMatchObject({ key: 'shop', name: 'Closed' })
    expect(await done('project', 'delete', 'shop', '--yes')).toEqual({ deleted: 'shop' })
    expect(keysOf(await done('project', 'list'))).not.toContain('shop')
  })

  test('that does not exist causes exit code 3 and a message', async () => {
    for (const words of ['show', 'rename', 'delete']) {
      const args = ['project', words, 'nowhere', ...(words === 'rename' ? ['x'] : [])]
      const { code, stdout, stderr } = await run(args)
      expect([args, code, stdout]).toEqual([args, EXIT.service, ''])
      expect(stderr).toMatch(/^verdict: [^\n]*nowhere[^\n]*\n$/)
    }
  })
})

describe('an environment', () => {
  test('is created with a first key, listed, shown with counts, renamed and deleted', async () => {
    const made = await done<Place>('env', 'create', 'staging', '--project', 'default')
    const { secret } = await done<{ secret: string }>('env', 'key', 'staging', '--project', 'default')
    expect((await run(['check', 'a', 'read', 'document:d'], secret)).code).toBe(EXIT.no)
    const shown = (await run(['env', 'key', 'staging', '--project', 'default', '--output', 'table'])).stdout
    expect(shown).toBe(`${secret}\n`)
    expect(keysOf(await done('env', 'list', '--project', 'default'))).toContain('staging')
    const counts = await done<{ stats: object }>('env', 'show', 'staging', '--project', 'default')
    expect(counts).toMatchObject({ id: made.id, stats: { users: 0, tenants: 1 } })
    const table = (await run(['env', 'show', 'staging', '--project', 'default', '-o', 'table'])).stdout
    expect(table).toMatch(/\nusers +0\n/)
    expect(table).toMatch(/\nproxy configs +0\n/)
    const renamed = await done('env', 'rename', 'staging', 'Before', '--project', 'default')
    expect(renamed).toMatchObject({ key: 'staging', name: 'Before' })
    expect(await done('env', 'delete', 'staging', '--project', 'default', '--yes')).toEqual({
      deleted: 'staging',
    })
    expect(keysOf(await done('env', 'list', '--project', 'default'))).not.toContain('staging')
  })

  test('is copied from another environment, and an existing target requires --overwrite', async () => {
    const apply = async (text: string, env: string) => {
      await done('apply', written(text), '--yes', '--project', 'default', '--env', env)
    }
    await done('env', 'create', 'source', '--project', 'default')
    await apply('resources: { page: { actions: [read] } }\nusers: { anna: }\n', 'source')
    const words = ['env', 'copy', 'source', 'target', '--project', 'default']
    const copy = (...args: readonly string[]) => [...words, ...args]
    expect(await done(...copy('--name', 'The target'))).toMatchObject({ key: 'target', name: 'The target' })
    const stats = (await done<{ stats: object }>('env', 'show', 'target', '--project', 'default')).stats
    expect(stats).toMatchObject({ resources: 1, users: 0 })
    expect((await run(copy())).code).toBe(EXIT.service)
    expect((await run(copy('--existing'))).code).toBe(EXIT.service)
    await apply('resources: { page: { actions: [read, write] } }\n', 'source')
    await done(...copy('--overwrite'))
    const target = ['--project', 'default', '--env', 'target']
    const { stdout } = await run(['apply', pathOf('model.yaml'), '--dry-run', ...target])
    expect(JSON.parse(stdout)).toMatchObject({ steps: [] })
  })

  test('is searched for in the project of the key, unless the command names another project', async () => {
    const { secret } = await done<{ secret: string }>('keys', 'create', '--project', 'default')
    const { code, stdout } = await run(['env', 'list'], secret)
    expect([code, keysOf(JSON.parse(stdout))]).toEqual([EXIT.yes, expect.arrayContaining(['default'])])
    expect(await run(['env', 'list'])).toMatchObject({
      code: EXIT.usage,
      stderr: expect.stringContaining('select one with --project'),
    })
  })
})

describe('a deletion', () => {
  test('without confirmation deletes nothing and prints the options', async () => {
    await done('env', 'create', 'kept', '--project', 'default')
    for (const args of [
      ['env', 'delete', 'kept', '--project', 'default'],
      ['project', 'delete', 'default'],
    ]) {
      const { code, stdout, stderr } = await run(args)
      expect([args, code, JSON.parse(stdout)]).toEqual([args, EXIT.no, { deleted: null }])
      expect(stderr).toMatch(
        /^to delete (environment kept of project|project) default with .*, type its key "\w+" at the prompt of a terminal, or add --yes\n$/,
      )
    }
    expect(keysOf(await done('env', 'list', '--project', 'default'))).toEqual(
      expect.arrayContaining(['default', 'kept']),
    )
  })

  test.each([
    ['kep', EXIT.no],
    ['yes', EXIT.no],
    ['kept', EXIT.yes],
  ])('requires the name as confirmation on a terminal: %s', async (typed, code) => {
    const command = 'verdict env delete kept --project default'
    const line = `echo ${typed} | script --quiet --return --command '${command}' /dev/null`
    const env = { VERDICT_URL: service.address, VERDICT_KEY: ADMIN_KEY }
    const answer = await shellCommand(line, env)
    expect([answer.code, answer.stdout]).toEqual([
      code,
      expect.stringContaining('Type kept to delete environment kept'),
    ])
    const left = keysOf(await done('env', 'list', '--project', 'default'))
    expect(left.includes('kept')).toBe(code === EXIT.no)
  })

  test('requires a key with permission', async () => {
    const { code, stdout } = await run(['project', 'delete', 'default', '--yes'], API_KEY)
    expect([code, stdout]).toEqual([EXIT.service, ''])
  })
})
