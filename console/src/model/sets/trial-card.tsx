/** Editor for samples. It shows the result of the conditions for each sample. */
import { completeTenants, completeUsers } from '../../interface/completions.ts'
import { Action } from '../../parts/action.tsx'
import { KeyInput, LongTextInput } from '../../parts/fields.tsx'
import { Badge, Card } from '../../parts/page.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useSpoken } from '../../texts/texts.tsx'
import { loadInstances } from './options.ts'
import { readObject, type SetDraft } from './set-draft.ts'
import type { Samples } from './use-samples.ts'
import type { SampleDraft, TriedSample, UsedTrial } from './use-trial.ts'
import { Truth, TriedTests } from './truth.tsx'

const SAMPLES_MAX = 50

export function TrialCard({
  draft,
  trial,
  samples,
}: {
  readonly draft: SetDraft
  readonly trial: UsedTrial
  readonly samples: Samples
}) {
  const environment = useCurrentEnvironment()
  const { texts: all, number } = useSpoken()
  const texts = all.model.sets.trial
  const { surroundings } = samples
  const values = trial.samples?.map(({ value }) => value) ?? []
  const count = (value: string) => number(values.filter(each => each === value).length)
  return (
    <Card title={texts.title}>
      <p className="soft">{texts.lead[draft.type]}</p>
      <p className="heard" aria-live="polite">
        {trial.isCurrent && values.length > 0
          ? texts.summary(count('true'), count('false'), count('unknown'))
          : ''}
      </p>
      <ol className="samples" aria-label={texts.samples}>
        {samples.samples.map((sample, index) => (
          <Sample
            key={sample.id}
            number={number(index + 1)}
            draft={draft}
            sample={sample}
            tried={trial.samples?.[index] ?? null}
            isCurrent={trial.isCurrent}
            samples={samples}
          />
        ))}
      </ol>
      <div className="row">
        <Action onPress={samples.add} isDisabled={samples.samples.length >= SAMPLES_MAX}>
          {texts.add}
        </Action>
      </div>
      <details className="more-fields">
        <summary>{texts.surroundings}</summary>
        <div className="stack">
          <KeyInput
            label={texts.tenant}
            value={surroundings.tenant}
            onChange={tenant => samples.surround({ tenant })}
            queryKey={environment.key('tenant', 'sample-tenants')}
            load={completeTenants(environment)}
            description={texts.tenantHelp}
          />
          <LongTextInput
            label={texts.context}
            value={surroundings.context}
            onChange={context => samples.surround({ context })}
            description={texts.contextHelp}
            problem={readObject(surroundings.context) === undefined ? texts.noObject : null}
            rows={3}
          />
        </div>
      </details>
    </Card>
  )
}

function Sample({
  number,
  draft,
  sample,
  tried,
  isCurrent,
  samples,
}: {
  readonly number: string
  readonly draft: SetDraft
  readonly sample: SampleDraft
  readonly tried: TriedSample | null
  readonly isCurrent: boolean
  readonly samples: Samples
}) {
  const environment = useCurrentEnvironment()
  const texts = useSpoken().texts.model.sets.trial
  const put = (fields: Partial<SampleDraft>): void => samples.put(sample.id, fields)
  const user = (
    <KeyInput
      key="user"
      label={texts.user(number)}
      value={sample.user}
      onChange={value => put({ user: value })}
      queryKey={environment.key('user', 'sample-users')}
      load={completeUsers(environment)}
    />
  )
  const instance = (
    <KeyInput
      key="instance"
      label={texts.instance(number)}
      value={sample.instance}
      onChange={value => put({ instance: value })}
      queryKey={environment.key('resource_instance', 'sample-instances', draft.resource)}
      load={loadInstances(environment, draft.resource)}
    />
  )
  const isUserSet = draft.type === 'userset'
  return (
    <li className="sample">
      <div className="sample-head">
        {isUserSet ? user : instance}
        <div className="row sample-verdict" aria-busy={!isCurrent}>
          {tried === null ? <Badge>{texts.waiting}</Badge> : <Truth value={tried.value} isWhole />}
          <Action
            kind="quiet"
            isSmall
            aria-label={texts.removeLabel(number)}
            onPress={() => samples.remove(sample.id)}
          >
            {texts.remove}
          </Action>
        </div>
      </div>
      {tried?.not_stored?.map(what => (
        <p className="small soft" key={what}>
          {texts.notStored[what]}
        </p>
      ))}
      {tried?.is_of_other_resource ? <p className="small soft">{texts.otherResource}</p> : null}
      {tried === null ? null : <TriedTests tested={tried} label={texts.tests(number)} />}
      <details className="more-fields">
        <summary>{isUserSet ? texts.moreOfUser : texts.moreOfInstance}</summary>
        <div className="stack">
          <LongTextInput
            label={isUserSet ? texts.userAttributes(number) : texts.instanceAttributes(number)}
            value={sample.attributes}
            onChange={attributes => put({ attributes })}
            description={texts.attributesHelp}
            problem={readObject(sample.attributes) === undefined ? texts.noObject : null}
            rows={3}
          />
          {isUserSet ? instance : user}
        </div>
      </details>
    </li>
  )
}
