/**
 * Page about the API keys that the session manages. The user can list, create, rotate and revoke keys, and
 * change their level. A session with an environment key manages no keys.
 */
import { useState } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { usePages } from '../../interface/pages.ts'
import { Choice } from '../../parts/fields.tsx'
import { Badge, Card, Page } from '../../parts/page.tsx'
import { PagedTable, Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useManaged, useManagesKeys } from '../../session/held.ts'
import { useScope } from '../../session/scope.ts'
import { useCurrentEnvironmentIfAny } from '../../shell/current-environment.tsx'
import type { Texts } from '../../texts/en.ts'
import { useSpoken, useTexts } from '../../texts/texts.tsx'
import { type ApiKey, KEYS, useKeyName, useOpenedNames } from './keys.ts'
import { MakeKey } from './make-key.tsx'
import { NotYours } from './not-yours.tsx'
import { RevokeKey } from './revoke-key.tsx'
import { RotateKey } from './rotate-key.tsx'
import { SetLevel } from './set-level.tsx'

type Kind = 'all' | ApiKey['object_type']

export function KeysPage() {
  const texts = useTexts().operations.keys
  const { error } = useScope()
  const isManager = useManagesKeys()
  const project = useManaged()?.ownProject ?? null
  return (
    <Page
      title={texts.title}
      lead={texts.lead}
      {...(isManager ? { actions: <MakeKey ownProject={project} /> } : {})}
    >
      <ProblemNote error={error} />
      {isManager === null ? (
        error === null && <Skeleton />
      ) : isManager ? (
        <KeyList ownProject={project} />
      ) : (
        <NotYours />
      )}
    </Page>
  )
}

/**
 * `ownProject` is the project of the session if it manages only the keys of this project. It is null if the
 * session manages all keys.
 */
function KeyList({ ownProject }: { readonly ownProject: string | null }) {
  const { texts, moment } = useSpoken()
  const labels = texts.operations.keys
  const current = useCurrentEnvironmentIfAny()
  const [kind, setKind] = useState<Kind>('all')
  const [within, setWithin] = useState('everywhere')
  const query = {
    ...(kind === 'all' ? {} : { object_type: kind }),
    ...(within === 'thisProject' && current !== null ? { proj_id: current.project } : {}),
  }
  const pages = usePages([KEYS, query], async (page, signal) =>
    answerOf(service.GET('/v2/api-key', { params: { query: { ...page, ...query } }, signal })),
  )
  const kinds = ['all', 'org', 'project', 'env'] as const
  return (
    <Card>
      {ownProject !== null ? null : (
        <div className="filters">
          <Choice
            label={labels.kind}
            value={kind}
            onChange={chosen => setKind(chosen as Kind)}
            options={kinds.map(id => ({ id, text: labels.kinds[id] }))}
          />
          {current === null ? null : (
            <Choice
              label={labels.within}
              value={within}
              onChange={setWithin}
              options={(['everywhere', 'thisProject'] as const).map(id => ({ id, text: labels[id] }))}
            />
          )}
        </div>
      )}
      <PagedTable
        label={labels.list}
        pages={pages}
        rowKey={({ id }: ApiKey) => id}
        empty={labels.none}
        columns={[
          { id: 'name', header: labels.name, cell: apiKey => <KeyName apiKey={apiKey} /> },
          { id: 'opens', header: labels.opens, cell: apiKey => <Opened apiKey={apiKey} /> },
          { id: 'level', header: labels.level, cell: apiKey => <KeyLevel apiKey={apiKey} /> },
          { id: 'made', header: labels.made, cell: apiKey => <Made apiKey={apiKey} /> },
          {
            id: 'used',
            header: labels.lastUsed,
            cell: ({ last_used_at: at }) =>
              at === null ? <span className="soft">{labels.notUsed}</span> : labels.usedAbout(moment(at)),
          },
          {
            id: 'former',
            header: labels.former,
            cell: ({ former_secret_valid_until: until }) =>
              until === undefined ? (
                <span className="soft">{labels.formerOver}</span>
              ) : (
                <Badge kind="warn">{labels.formerUntil(moment(until))}</Badge>
              ),
          },
          {
            id: 'actions',
            header: labels.actions,
            isActions: true,
            cell: apiKey => (
              <span className="row key-actions">
                {apiKey.tenants === undefined ? <SetLevel apiKey={apiKey} /> : null}
                <RotateKey apiKey={apiKey} />
                <RevokeKey apiKey={apiKey} />
              </span>
            ),
          },
        ]}
      />
    </Card>
  )
}

function KeyName({ apiKey }: { readonly apiKey: ApiKey }) {
  const name = useKeyName(apiKey)
  return (
    <span className="stack tight">
      <span className="key">{name}</span>
      <code className="soft key-id">{apiKey.id}</code>
    </span>
  )
}

function KeyLevel({ apiKey: { access_level: level, tenants, roles } }: { readonly apiKey: ApiKey }) {
  const { texts, number } = useSpoken()
  const labels = texts.operations.keys
  if (tenants === undefined) return <>{labels.levels[level]}</>
  return (
    <span className="stack tight">
      <span>{texts.members.tenantLevels[level === 'read' ? 'tenant_read' : 'tenant_write']}</span>
      <span className="soft small">
        {labels.limitedTo(number(tenants.length))}
        {roles === undefined || roles.length === 0 ? '' : `: ${roles.join(', ')}`}
      </span>
    </span>
  )
}

/**
 * Creation time of a key, and the member or key that created it. The name of the creator was stored at that
 * time, because the creator might no longer exist.
 */
function Made({ apiKey: { created_at: at, created_by: by } }: { readonly apiKey: ApiKey }) {
  const { texts, moment } = useSpoken()
  const labels = texts.operations.keys
  const id = by?.member?.id ?? by?.api_key_id ?? null
  return (
    <span className="stack tight">
      <span>{moment(at)}</span>
      {by === undefined ? null : (
        <span className="soft small" title={id ?? undefined}>
          {labels.madeBy(makerOf(by, labels))}
        </span>
      )}
    </span>
  )
}

function makerOf(
  { member, api_key_id: id, name }: NonNullable<ApiKey['created_by']>,
  labels: Texts['operations']['keys'],
): string {
  if (member !== undefined) return member.name ?? labels.member
  return id === null ? labels.operatorsKey : (name ?? labels.keyNumber(id.slice(-8)))
}

function Opened({ apiKey }: { readonly apiKey: ApiKey }) {
  const texts = useTexts().operations.keys
  const { project, environment } = useOpenedNames(apiKey)
  if (apiKey.object_type === 'org') return <Badge kind="accent">{texts.organization}</Badge>
  const path = [project, environment].filter(name => name !== null).join(' / ')
  return (
    <span className="row">
      <Badge>{apiKey.object_type === 'env' ? texts.environment : texts.project}</Badge>
      <span className="key">{path}</span>
    </span>
  )
}
