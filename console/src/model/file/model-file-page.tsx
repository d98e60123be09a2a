/**
 * Shows the model as a file for `verdict apply`. The user can read or copy it, or store it in a repository.
 */
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { answerOf, service } from '../../interface/client.ts'
import { Action } from '../../parts/action.tsx'
import { CopyAction } from '../../parts/copy-action.tsx'
import { download } from '../../parts/download.ts'
import { Skeleton } from '../../parts/paged-table.tsx'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { useCurrentEnvironment } from '../../shell/current-environment.tsx'
import { useSpoken } from '../../texts/texts.tsx'
import { ModelPage } from '../model-page.tsx'

const YamlView = lazy(() => import('./yaml-view.tsx'))

const TYPE = 'application/yaml'
const FILE_NAME = 'model.yaml'

export default function ModelFilePage() {
  const environment = useCurrentEnvironment()
  const { texts: all, number } = useSpoken()
  const texts = all.model.file
  const { data, error } = useQuery({
    queryKey: environment.key(['resource', 'role', 'relation', 'condition_set', 'set_rule'], 'model-file'),
    queryFn: ({ signal }) =>
      answerOf(
        service.GET('/v2/schema/{proj_id}/{env_id}/model', {
          params: { path: environment.path },
          parseAs: 'text',
          signal,
        }),
      ),
  })
  return (
    <ModelPage
      title={texts.title}
      lead={texts.lead}
      actions={
        data === undefined ? undefined : (
          <>
            <CopyAction text={data} copied={texts.copied} />
            <Action kind="primary" onPress={() => download(new Blob([data], { type: TYPE }), FILE_NAME)}>
              {texts.download}
            </Action>
          </>
        )
      }
    >
      <ProblemNote error={error} />
      {data === undefined ? (
        error === null ? (
          <Skeleton />
        ) : null
      ) : (
        <>
          <p className="soft small">
            {texts.size(number(data.split('\n').length - 1), number(Math.ceil(data.length / 1024)))}
          </p>
          <Suspense fallback={<Skeleton />}>
            <YamlView text={data} />
          </Suspense>
          <p className="soft small">{texts.apply}</p>
        </>
      )}
    </ModelPage>
  )
}
