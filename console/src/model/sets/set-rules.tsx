/**
 * Rules that use a set. A rule allows the users of its user set to perform an action on the resources of its
 * resource set.
 */
import { useState } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { usePages } from '../../interface/pages.ts'
import { Problem } from '../../interface/problem.ts'
import { ActionDialog } from '../../parts/dialogs.tsx'
import { KeyInput } from '../../parts/fields.tsx'
import { Card } from '../../parts/page.tsx'
import { type Column, PagedTable } from '../../parts/paged-table.tsx'
import { useWrite } from '../../parts/writes.ts'
import { type CurrentEnvironment, useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useTexts } from '../../texts/texts.tsx'
import { loadPermissions, loadResourceSides, loadUserSides } from './options.ts'
import { RuleText, SideName } from './rule-text.tsx'
import type { ConditionSet } from './set-draft.ts'
import type { SetRule } from './use-set.ts'

type RuleBody = Pick<SetRule, 'user_set' | 'permission' | 'resource_set'>

export function SetRules({ set }: { readonly set: ConditionSet }) {
  const environment = useCurrentEnvironment()
  const texts = useTexts().model.sets
  const { key, type } = set
  const pages = usePages<SetRule>(environment.key('set_rule', 'of-set', key, type), (page, signal) =>
    answerOf(
      service.GET('/v2/facts/{proj_id}/{env_id}/set_rules', {
        params: {
          path: environment.path,
          query: {
            ...page,
            ...(type === 'userset' ? { user_set: key } : { resource_set: key }),
            include_total_count: true,
          },
        },
        signal,
      }),
    ),
  )
  const columns: readonly Column<SetRule>[] = [
    { id: 'permission', header: texts.permission, cell: rule => <code>{rule.permission}</code> },
    // This set is one side of the new rule. The user selects the other side.
    type === 'userset'
      ? {
          id: 'resource',
          header: texts.resourceSide,
          cell: rule => <SideName side={rule.resource_set} what={texts.allOf} />,
        }
      : {
          id: 'user',
          header: texts.userSide,
          cell: rule => <SideName side={rule.user_set} what={texts.role} />,
        },
    { id: 'remove', header: texts.actions, isActions: true, cell: rule => <RemoveRule rule={rule} /> },
  ]
  return (
    <Card title={texts.rules} actions={<AddRule set={set} />}>
      <p className="soft">{texts.rulesLead[type]}</p>
      <PagedTable
        label={texts.rules}
        pages={pages}
        columns={columns}
        rowKey={({ key: rule }) => rule}
        empty={texts.noRules}
      />
    </Card>
  )
}

function AddRule({ set }: { readonly set: ConditionSet }) {
  const environment = useCurrentEnvironment()
  const texts = useTexts().model.sets
  const write = useWrite()
  const [permission, setPermission] = useState('')
  const [other, setOther] = useState('')
  const isUserSet = set.type === 'userset'
  const rule: RuleBody = {
    user_set: isUserSet ? set.key : other,
    permission,
    resource_set: isUserSet ? other : set.key,
  }
  const resource = set.resource?.key ?? ''
  const add = (): Promise<void> =>
    write({
      make: () => createRule(environment, rule),
      message: texts.ruleAdded,
      undo: () => deleteRule(environment, rule),
    })
  const isWhole = permission !== '' && other !== ''
  const clear = (): void => {
    setPermission('')
    setOther('')
  }
  return (
    <ActionDialog
      needs="write"
      trigger={texts.addRule}
      triggerLook={{ isSmall: true }}
      title={texts.addRule}
      sentence={
        isWhole ? (
          <>
            {texts.addRuleSentence} <RuleText rule={rule} />
          </>
        ) : (
          texts.addRuleHelp
        )
      }
      submit={texts.addRule}
      onSubmit={add}
      onOpen={clear}
    >
      {problem => {
        const about = (field: string) => (problem instanceof Problem ? problem.about(field) : null)
        return (
          <>
            <KeyInput
              label={texts.permission}
              value={permission}
              onChange={setPermission}
              queryKey={environment.key('resource', 'permissions', resource)}
              load={loadPermissions(environment, resource)}
              description={texts.permissionHelp}
              problem={about('permission')}
              isRequired
              autoFocus
            />
            <KeyInput
              key={isUserSet ? 'resource' : 'user'}
              label={isUserSet ? texts.resourceSide : texts.userSide}
              value={other}
              onChange={setOther}
              queryKey={environment.key('condition_set', 'sides', isUserSet)}
              load={
                isUserSet
                  ? loadResourceSides(environment, texts.wholeResource)
                  : loadUserSides(environment, texts.tenantRole)
              }
              description={isUserSet ? texts.resourceSideHelp : texts.userSideHelp}
              problem={about(isUserSet ? 'resource_set' : 'user_set')}
              isRequired
            />
          </>
        )
      }}
    </ActionDialog>
  )
}

function RemoveRule({ rule }: { readonly rule: SetRule }) {
  const environment = useCurrentEnvironment()
  const texts = useTexts().model.sets
  const write = useWrite()
  const { user_set, permission, resource_set } = rule
  const body = { user_set, permission, resource_set }
  return (
    <ActionDialog
      needs="write"
      trigger={texts.removeRule}
      triggerLook={{ kind: 'quiet danger', isSmall: true }}
      triggerLabel={texts.removeRuleLabel(user_set, permission, resource_set)}
      title={texts.removeRuleTitle}
      sentence={
        <>
          {texts.removeRuleSentence} <RuleText rule={rule} />
        </>
      }
      submit={texts.removeRule}
      isDanger
      onSubmit={() =>
        write({
          make: () => deleteRule(environment, body),
          message: texts.ruleRemoved,
          undo: () => createRule(environment, body),
        })
      }
    />
  )
}

function createRule({ path }: CurrentEnvironment, body: RuleBody): Promise<unknown> {
  return answerOf(service.POST('/v2/facts/{proj_id}/{env_id}/set_rules', { params: { path }, body }))
}

function deleteRule({ path }: CurrentEnvironment, body: RuleBody): Promise<unknown> {
  return answerOf(service.DELETE('/v2/facts/{proj_id}/{env_id}/set_rules', { params: { path }, body }))
}
