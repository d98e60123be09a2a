/** What there is to say of one type, and what can be done with it. */
import { ActionLink } from '../../parts/action.tsx'
import { Badge } from '../../parts/page.tsx'
import { Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { usePlace } from '../../shell/place.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { AddAction } from '../dialogs/add-action.tsx'
import { AddDerivation } from '../dialogs/add-derivation.tsx'
import { AddRelation } from '../dialogs/add-relation.tsx'
import { AddRole } from '../dialogs/add-role.tsx'
import { EditType } from '../dialogs/edit-type.tsx'
import { RemovePart } from '../dialogs/remove-part.tsx'
import { RoleParents } from '../dialogs/role-parents.tsx'
import { type ModelRelation, derivationsOf, relationsOf, rolesOf } from '../model-facts.ts'
import { type ModelType, useType } from '../model-reads.ts'
import { removeAction, removeRelation, removeRole, removeType } from '../model-writes.ts'
import { DerivationItem } from './derivation-item.tsx'
import { PanelSection } from './panel-section.tsx'
import { TypeLink } from './type-link.tsx'

export function TypePanel({ type, types }: { readonly type: string; readonly types: readonly ModelType[] }) {
  const texts = useTexts().model.graph
  const { data, error } = useType(type)
  return (
    <aside className="card graph-panel" aria-label={texts.panel(type)}>
      <ProblemNote error={error} />
      {data === undefined ? error === null ? <Skeleton /> : null : <Shown type={data} types={types} />}
    </aside>
  )
}

function Shown({ type, types }: { readonly type: ModelType; readonly types: readonly ModelType[] }) {
  const texts = useTexts().model.graph
  const place = usePlace()
  const { path } = place
  const roles = rolesOf(type)
  const relations = relationsOf(type)
  const derivations = derivationsOf(type)
  // Where the type is the subject: relations and derivations are told of at the object.
  const outward = types.filter(({ key }) => key !== type.key)
  const relationsOut = outward.flatMap(relationsOf).filter(({ subject }) => subject === type.key)
  const derivationsOut = outward.flatMap(derivationsOf).filter(({ from }) => from.type === type.key)
  const attributes = Object.values(type.attributes)
  return (
    <div className="stack">
      <div className="stack tight">
        <h2>{type.name}</h2>
        <span className="soft small">
          <code>{type.key}</code>
          {type.description === null ? null : <> · {type.description}</>}
        </span>
        <div className="row">
          <ActionLink isSmall to={place.to('model', 'matrix', type.key)}>
            {texts.toMatrix}
          </ActionLink>
          <EditType type={type.key} />
          <RemovePart
            label={texts.removeType.label(type.key)}
            title={texts.removeType.title}
            sentence={texts.removeType.sentence(type.key)}
            said={texts.removeType.said(type.key)}
            leadsTo={place.to('model')}
            remove={() => removeType(path, type.key)}
          />
        </div>
      </div>

      <PanelSection
        title={texts.actions}
        items={Object.values(type.actions)}
        none={texts.noActions}
        add={<AddAction type={type.key} />}
        itemKey={({ key }) => key}
      >
        {({ key, name }) => (
          <>
            <span>
              <code>{key}</code> {name === key ? null : <span className="soft">{name}</span>}
            </span>
            <RemovePart
              label={texts.removeAction.label(key)}
              title={texts.removeAction.title}
              sentence={texts.removeAction.sentence(key, type.key)}
              said={texts.removeAction.said(key, type.key)}
              remove={() => removeAction(path, type.key, key)}
            />
          </>
        )}
      </PanelSection>

      <PanelSection
        title={texts.roles}
        items={roles}
        none={texts.noRoles}
        add={<AddRole type={type.key} actions={Object.keys(type.actions)} />}
        itemKey={({ key }) => key}
      >
        {role => (
          <>
            <span className="stack tight">
              <span>
                <code>{role.key}</code>{' '}
                {role.name === role.key ? null : <span className="soft">{role.name}</span>}
              </span>
              <span className="row tags">
                {role.permissions.map(permission => (
                  <Badge key={permission}>{permission}</Badge>
                ))}
                {role.permissions.length === 0 ? (
                  <span className="soft small">{texts.noPermissions}</span>
                ) : null}
              </span>
              {role.extends.length === 0 ? null : (
                <span className="soft small">{texts.extendsSentence(role.extends.join(', '))}</span>
              )}
            </span>
            <span className="row tight-end">
              <RoleParents type={type.key} role={role} roles={roles} />
              <RemovePart
                label={texts.removeRole.label(role.key)}
                title={texts.removeRole.title}
                sentence={texts.removeRole.sentence(role.key, type.key)}
                said={texts.removeRole.said(role.key, type.key)}
                remove={() => removeRole(path, type.key, role.key)}
              />
            </span>
          </>
        )}
      </PanelSection>

      <PanelSection
        title={texts.relations}
        items={[...relations, ...relationsOut]}
        none={texts.noRelations}
        add={<AddRelation type={type.key} />}
        itemKey={({ key, object }) => `${object} ${key}`}
      >
        {relation => <RelationItem relation={relation} type={type.key} />}
      </PanelSection>

      <PanelSection
        title={texts.derivations}
        items={[...derivations, ...derivationsOut]}
        none={texts.noDerivations}
        add={<AddDerivation type={type} />}
        itemKey={({ from, to, along }) => `${from.type} ${from.role} ${along} ${to.type} ${to.role}`}
      >
        {derivation => <DerivationItem derivation={derivation} type={type.key} />}
      </PanelSection>

      {attributes.length === 0 ? null : (
        <PanelSection title={texts.attributes} items={attributes} none="" itemKey={({ key }) => key}>
          {({ key, type: kind }) => (
            <span>
              <code>{key}</code> <span className="soft">{kind}</span>
            </span>
          )}
        </PanelSection>
      )}
    </div>
  )
}

function RelationItem({ relation, type }: { readonly relation: ModelRelation; readonly type: string }) {
  const texts = useTexts().model.graph
  const { path } = usePlace()
  const { key, subject, object, isOfGroups } = relation
  return (
    <>
      <span className="stack tight">
        <span>
          <code>{key}</code>: <TypeLink type={subject} here={type} /> → <TypeLink type={object} here={type} />
        </span>
        {isOfGroups ? <span className="soft small">{texts.ofGroups}</span> : null}
      </span>
      {object === type ? (
        <RemovePart
          label={texts.removeRelation.label(key)}
          title={texts.removeRelation.title}
          sentence={texts.removeRelation.sentence(key, subject, object)}
          said={texts.removeRelation.said(key, object)}
          remove={() => removeRelation(path, object, key)}
        />
      ) : null}
    </>
  )
}
