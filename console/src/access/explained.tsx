/** Why somebody may do something: one way to it, in words and drawn. Asked for when it is opened. */
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { answerOf, service } from '../interface/client.ts'
import { EndText } from '../parts/ends.tsx'
import { Skeleton } from '../parts/paged-table.tsx'
import { ProblemNote } from '../parts/problem-note.tsx'
import { usePlace } from '../shell/place.tsx'
import { useTexts } from '../texts/texts.tsx'
import { groupReference, viewAddress } from '../shell/links.ts'
import { type Asked, type Thing, type Way, wayOf } from './explained-way.ts'

export function Explained({ asked }: { readonly asked: Asked }) {
  const texts = useTexts()
  const { key } = usePlace()
  const { data, error } = useQuery({
    queryKey: key('any', 'explained', asked),
    queryFn: ({ signal }) => answerOf(service.POST('/allowed/explain', { body: questionOf(asked), signal })),
  })
  if (data === undefined) return error === null ? <Skeleton /> : <ProblemNote error={error} />
  if (!data.allow) return <p className="note warn">{texts.access.why.noMore}</p>
  const way = wayOf(data, asked, texts)
  if (way === null) return <p className="note">{texts.access.why.untold}</p>
  return <WayShown way={way} action={asked.action} />
}

function questionOf({ user, action, type, instance, tenant }: Asked) {
  const resource = { type, key: instance, ...(tenant === '' ? {} : { tenant }) }
  return { user: { key: user }, action, resource }
}

function WayShown({ way, action }: { readonly way: Way; readonly action: string }) {
  const said = useTexts().access.why
  return (
    <div className="explained stack tight">
      <ol className="chain" aria-label={said.chain}>
        <li>
          <ThingShown thing={way.from} action={action} />
        </li>
        {way.steps.map(({ by, to, end }, index) => (
          <li key={index}>
            <span className="by">
              <span>{by}</span>
              {end === null ? null : <EndText end={end} />}
            </span>
            <ThingShown thing={to} action={action} />
          </li>
        ))}
      </ol>
      <ul className="sentences">
        {way.steps.map(({ sentence, end }, index) => (
          <li key={index}>
            {sentence} {end === null ? null : <EndText end={end} />}
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Leads to what there is to see of it. */
function ThingShown({ thing, action }: { readonly thing: Thing; readonly action: string }) {
  const said = useTexts().access.why
  const place = usePlace()
  const { kind, type, key } = thing
  const inside = (
    <>
      <span className="kind">{kind === 'instance' ? type : said.kinds[kind]}</span>
      <span className="key">{key}</span>
    </>
  )
  const to = {
    user: () => viewAddress(place, 'users', { user: key, action }),
    group: () => place.to('groups', groupReference(type ?? 'group', key)),
    instance: () => viewAddress(place, 'resources', { type: type ?? '', instance: key, action }),
    role: () => null,
    set: () => null,
  }[kind]()
  if (to === null) return <span className={`thing ${kind}`}>{inside}</span>
  return (
    <Link href={to} className={`thing ${kind}`}>
      {inside}
    </Link>
  )
}
