/** Panel with the details of one type, and actions on it. */
import { LogLink } from '../../access/audit/log-link.tsx'
import { ActionLink } from '../../parts/action.tsx'
import { Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { AddAction } from '../dialogs/add-action.tsx'
import { AddDerivation } from '../dialogs/add-derivation.tsx'
import { AddRelation } from '../dialogs/add-relation.tsx'
import { AddRole } from '../dialogs/add-role.tsx'
import { EditAction } from '../dialogs/edit-action.tsx'
import { EditType } from '../dialogs/edit-type.tsx'
import { RemovePart } from '../dialogs/remove-part.tsx'
import { type ModelRelation, derivationsOf, relationsOf, rolesOf } from '../model-facts.ts'
import { type ModelType, useType } from '../model-reads.ts'
import { removeAction, removeRelation, removeType } from '../model-writes.ts'
import { ActionGroups } from './action-groups.tsx'
import { Attributes } from './attributes.tsx'
import { DerivationItem } from './derivation-item.tsx'
import { Named } from '../named.tsx'
import { PanelSection } from '../panel-section.tsx'
import { RoleItem } from './role-item.tsx'
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
  const environment = useCurrentEnvironment()
  const { path } = environment
  const roles = rolesOf(type)
  const relations = relationsOf(type)
  const derivations = derivationsOf(type)
  // Relations and derivations whose subjects have this type. They are declared at the type of their objects.
  const outward = types.filter(({ key }) => key !== type.key)
  const relationsOut = outward.flatMap(relationsOf).filter(({ subject }) => subject === type.key)
  const derivationsOut = outward.flatMap(derivationsOf).filter(({ from }) => from.type === type.key)
  return (
    <div className="stack">
      <div className="stack tight">
        <div className="row apart">
          <h2>{type.name}</h2>
          <LogLink about="resource" named={type.key} isSmall />
        </div>
        <span className="soft small">
          <code>{type.key}</code>
          {type.description === null ? null : <> · {type.description}</>}
        </span>
        <div className="row">
          <ActionLink isSmall to={environment.to('model', 'matrix', type.key)}>
            {texts.toMatrix}
          </ActionLink>
          <EditType type={type.key} />
          <RemovePart
            label={texts.removeType.label(type.key)}
            title={texts.removeType.title}
            sentence={texts.removeType.sentence(type.key)}
            message={texts.removeType.done(type.key)}
            leadsTo={environment.to('model')}
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
        {({ key, name, description }) => (
          <>
            <span className="stack tight">
              <Named of={key} name={name} />
              {description === null ? null : <span className="soft small">{description}</span>}
            </span>
            <span className="row tight-end">
              <EditAction type={type.key} action={key} />
              <RemovePart
                label={texts.removeAction.label(key)}
                title={texts.removeAction.title}
                sentence={texts.removeAction.sentence(key, type.key)}
                message={texts.removeAction.done(key, type.key)}
                remove={() => removeAction(path, type.key, key)}
              />
            </span>
          </>
        )}
      </PanelSection>

      <ActionGroups type={type} />

      <PanelSection
        title={texts.roles}
        items={roles}
        none={texts.noRoles}
        add={<AddRole type={type.key} actions={Object.keys(type.actions)} />}
        itemKey={({ key }) => key}
      >
        {role => <RoleItem role={role} type={type.key} roles={roles} />}
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

      <Attributes type={type} />
    </div>
  )
}

function RelationItem({ relation, type }: { readonly relation: ModelRelation; readonly type: string }) {
  const texts = useTexts().model.graph
  const { path } = useCurrentEnvironment()
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
          message={texts.removeRelation.done(key, object)}
          remove={() => removeRelation(path, object, key)}
        />
      ) : null}
    </>
  )
}
