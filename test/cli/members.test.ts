/** `verdict members`, `verdict sessions`, and limited keys of `verdict keys`, with a running service. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import type { Member, MemberGroup } from '#model/wire/organization/member.ts'
import { ADMIN_KEY, sharedService } from '#testing/processes/running-service.ts'
import { sendIn, signedIn, SIGN_IN } from '#testing/requests/member-sessions.ts'
import { EXIT } from '../../src/cli/session/exit-codes.ts'
import { commandsOf } from './command-line.ts'

const service = await sharedService(SIGN_IN)
const run = (args: readonly string[], key = ADMIN_KEY) => commandsOf(service)(args, { key })
const t = await service.tenant('t')
await service.tenantRole('clerk', [])

/** Runs a command that succeeds, and returns its output. */
async function done<Result>(line: string, key = ADMIN_KEY): Promise<Result> {
  const { code, stdout, stderr } = await run(line.split(' '), key)
  expect([line, code, stderr]).toEqual([line, EXIT.yes, ''])
  return JSON.parse(stdout) as Result
}

async function table(line: string): Promise<string> {
  const { code, stdout, stderr } = await run([...line.split(' '), '--output', 'table'])
  expect([line, code, stderr]).toEqual([line, EXIT.yes, ''])
  return stdout
}

const levelsOf = (grants: Member['grants']) =>
  grants.map(each => [each.project_key, each.environment_key, each.access_level, each.via])

describe('verdict members', () => {
  test('invites a person with a link, lists and shows the invitation, and withdraws it', async () => {
    const link = await table('members invite ann@example.com --level read --project default')
    expect(link).toMatch(/^https:\/\/verdict\.example\.com\/console#\/invite\/[\w-]{43}\n$/)
    expect(await table('members list')).toMatch(
      /^NAME +EMAIL +PERMISSIONS +LAST SIGN-IN +ID\n +ann@example\.com +read on project default +invited until \S+ +\S+\n$/,
    )
    const shown = await done<Member>('members show ann@example.com')
    expect(levelsOf(shown.grants)).toEqual([['default', null, 'read', 'own']])
    expect(shown.invite).not.toHaveProperty('invite_url')
    expect(await done('members remove ann@example.com')).toEqual({ removed: 'ann@example.com' })
    expect(await done('members list')).toEqual([])
  })

  test('gives and removes permissions of a person whose subject is known', async () => {
    const { id } = await done<Member>('members create bob --level write --project default')
    await done(`members grant ${id} --level read`)
    await done(`members grant ${id} --level admin --project default --env default`)
    await done(`members grant ${id} --level write_facts --project default`)
    const all = [
      [null, null, 'read', 'own'],
      ['default', 'default', 'admin', 'own'],
      ['default', null, 'write_facts', 'own'],
    ]
    expect(levelsOf((await done<Member>(`members show ${id}`)).grants)).toEqual(all)
    expect(await table(`members show ${id}`)).toMatch(
      /^NAME +EMAIL +SUBJECT.*\nbob +bob +\S+\n\nOBJECT +LEVEL +ROLES +FROM\neverything +read +own\ndefault of project default +admin +own\nproject default +write_facts +own\n$/,
    )
    for (const place of ['', ' --project default --env default']) await done(`members revoke ${id}${place}`)
    expect(levelsOf((await done<Member>(`members show ${id}`)).grants)).toEqual([all[2]])
    expect((await done<Member[]>('members list --search BO --project default')).map(each => each.id)).toEqual(
      [id],
    )
    expect(await done('members list --search nobody')).toEqual([])
    expect(await run(['members', 'revoke', id])).toMatchObject({ code: EXIT.service })
    await done(`members revoke ${id} --project default`)
    expect(await run(['members', 'show', id])).toMatchObject({ code: EXIT.service, stdout: '' })
  })

  test('limits a permission to tenants and roles', async () => {
    const limits = '--level write_facts --project default --env default --tenants t --roles clerk'
    const { id, grants } = await done<Member>(`members create carl ${limits}`)
    expect(grants).toMatchObject([{ tenants: [t.id], roles: ['clerk'] }])
    expect(await table(`members show ${id}`)).toMatch(
      /\n\S+ of project default +write_facts in 1 tenant +clerk +own\n$/,
    )
    expect(await table('members list')).toMatch(/ write_facts in 1 tenant on default of project default /)
    await done(`members remove ${id}`)
  })

  test('gives, changes and removes permissions of groups, and deletes groups without permissions', async () => {
    type Groups = MemberGroup[]
    const [made] = await done<Groups>('members grant developers --group --level read')
    const limits = '--level write_facts --project default --env default --tenants t --roles clerk'
    await done(`members grant developers --group ${limits}`)
    await done('members grant developers --group --level write --project default')
    const [changed] = await done<Groups>('members grant developers --group --level admin')
    expect(changed!.id).toBe(made!.id)
    const limited = { environment_key: 'default', tenants: [t.id], roles: ['clerk'] }
    expect(changed!.permissions).toMatchObject([
      limited,
      { access_level: 'write' },
      { access_level: 'admin' },
    ])
    expect(await table('members groups')).toMatch(
      /^GROUP +PERMISSIONS +ID\ndevelopers +write_facts in 1 tenant on default of project default, write on project default, admin on everything +\S+\n$/,
    )
    await done('members revoke developers --group')
    const { project_id: id } = (await service.get<{ project_id: string }>('/v2/api-key/scope')).body
    await done(`members revoke developers --group --project ${id.toUpperCase()}`)
    const missing = await run(['members', 'revoke', 'developers', '--group'])
    const stderr = 'verdict: the member group "developers" has no permission on this object\n'
    expect(missing).toEqual({ code: EXIT.service, stdout: '', stderr })
    await done('members revoke developers --group --project default --env default')
    expect(await done('members groups')).toEqual([])

    await done('members grant ops --group --level read')
    await done('members remove ops --group')
    const none = await run(['members', 'remove', 'ops', '--group'])
    expect(none).toMatchObject({ code: EXIT.service, stderr: 'verdict: there is no member group "ops"\n' })
  })

  test('does not overwrite a concurrent change of a group', async () => {
    await done('members grant racers --group --level read')
    // A proxy that changes the group after each read of it.
    const proxy = createServer((request, response) => {
      void (async () => {
        const body = request.method === 'GET' ? null : await text(request)
        const headers = request.headers as Record<string, string>
        const answer = await fetch(service.address + request.url, { method: request.method!, headers, body })
        if (request.url!.startsWith('/v2/member_groups/'))
          await done('members grant racers --group --level write')
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
      })()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void proxy.close())
    await once(proxy, 'listening')
    const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
    for (const change of ['grant racers --group --level read --project default', 'revoke racers --group']) {
      const { code, stderr } = await commandsOf({ address })(['members', ...change.split(' ')], {
        key: ADMIN_KEY,
      })
      expect([code, stderr]).toEqual([EXIT.service, expect.stringContaining('nothing was changed')])
    }
    expect(await done('members groups')).toMatchObject([{ permissions: [{ access_level: 'write' }] }])
    await done('members remove racers --group')
  })

  test('needs a project for an environment, and takes it from the key of a project', async () => {
    const { secret } = await service.createKey({ project_id: 'default' })
    const { id, grants } = await done<Member>('members create dora --level read --env default', secret)
    expect(levelsOf(grants)).toEqual([['default', 'default', 'read', 'own']])
    expect((await done<Member[]>('members list --env default', secret)).map(each => each.id)).toEqual([id])
    for (const args of ['list', `revoke ${id}`, `grant ${id} --level read`]) {
      const { code, stderr } = await run(['members', ...args.split(' '), '--env', 'default'])
      expect([code, stderr]).toEqual([EXIT.usage, expect.stringContaining('select one with --project')])
    }
    expect(await run(['members', 'create', 'max', '--level', 'read'], secret)).toMatchObject({
      code: EXIT.service,
      stderr: expect.stringContaining('needs access_level "admin" on each object'),
    })
    await done(`members remove ${id}`)
  })
})

test('verdict sessions lists the sessions of all members or of one, and ends a session', async () => {
  const ann = await signedIn(service, 'ann', [{ on: 'organization', level: 'read' }])
  const other = await signedIn(service, 'other')
  const idsOf = async (line: string) => (await done<{ id: string }[]>(line)).map(({ id }) => id)
  expect(new Set(await idsOf('sessions list'))).toEqual(new Set([ann.sessionId, other.sessionId]))
  expect(await idsOf('sessions list --member ann@example.com')).toEqual([ann.sessionId])
  expect(await table(`sessions list --member ${ann.memberId}`)).toMatch(
    new RegExp(`^MEMBER +SIGNED IN.*\n${ann.memberId} .* +Browser 1\\.0 +${ann.sessionId}\n$`),
  )
  expect(await done(`sessions end ${ann.sessionId}`)).toEqual({ ended: ann.sessionId })
  expect((await sendIn(service, ann, 'GET', '/v2/session')).status).toBe(401)
  const again = await run(['sessions', 'end', ann.sessionId])
  expect([again.code, again.stdout]).toEqual([EXIT.service, ''])
})

describe('verdict keys', () => {
  test('creates a limited key, shows it in the list, and changes level and limits together', async () => {
    const place = '--project default --env default'
    const made = await done<ApiKey & { secret: string }>(
      `keys create ${place} --level write_facts --tenants t,default --roles clerk`,
    )
    expect(made).toMatchObject({ tenants: [t.id, expect.any(String)], roles: ['clerk'] })
    expect(await table('keys list')).toMatch(new RegExp(` write_facts in 2 tenants +${made.id} `))
    const changed = await done(`keys set-level ${made.id} write_facts --tenants t`)
    expect(changed).toMatchObject({ tenants: [t.id], roles: ['clerk'] })
    expect(await done(`keys set-level ${made.id} read`)).toMatchObject({ tenants: [t.id], roles: [] })
    await done(`keys revoke ${made.id}`)
  })

  test('names the member that created a key', async () => {
    const max = await signedIn(service, 'max', [{ on: 'organization', level: 'admin' }])
    const body = { project_id: 'default', name: 'made' }
    expect((await sendIn(service, max, 'POST', '/v2/api-key', { body })).status).toBe(200)
    expect(await table('keys list')).toMatch(/\nmade +project \S+ +admin +\S+ +\S+ +max\n/)
  })
})
