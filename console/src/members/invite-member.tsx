/** Dialogs that invite a person, and that show the link of the invitation once. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { answerOf, service } from '../interface/client.ts'
import { ActionDialog } from '../parts/dialogs.tsx'
import { Choice, TextInput } from '../parts/fields.tsx'
import { SecretText } from '../parts/secret-text.tsx'
import { useTexts } from '../texts/texts.tsx'
import { errorAbout } from './grant-draft.ts'
import { GrantFormDialog } from './grant-form-dialog.tsx'
import { asSent } from './grant-words.ts'
import { type Member, MEMBERS, requireSeen } from './member-reads.ts'

export function InviteMember() {
  const texts = useTexts().members
  const queries = useQueryClient()
  const [by, setBy] = useState<'email' | 'subject'>('email')
  const [who, setWho] = useState('')
  return (
    <GrantFormDialog
      trigger={texts.invite}
      triggerLook={{ kind: 'primary' }}
      title={texts.inviteTitle}
      sentence={(level, object) => texts.inviteSentence(who, level, object)}
      submit={texts.inviteSubmit}
      isReady={who !== ''}
      onOpen={() => {
        setBy('email')
        setWho('')
      }}
      isShownAtField={problem => errorAbout(problem, by, [who]) !== null}
      onClose={() => void queries.invalidateQueries({ queryKey: [MEMBERS] })}
      onSubmit={permission =>
        answerOf(service.POST('/v2/members', { body: { [by]: who, permissions: [permission] } }))
      }
      outcome={{
        title: texts.linkTitle,
        content: member => <InvitationLink member={member} />,
        close: by === 'email' ? texts.linkClose : texts.close,
      }}
    >
      {problem => (
        <>
          <Choice
            label={texts.by}
            value={by}
            onChange={chosen => setBy(chosen as typeof by)}
            options={(['email', 'subject'] as const).map(id => ({ id, text: texts.bys[id] }))}
          />
          <TextInput
            label={by === 'email' ? texts.email : texts.subject}
            description={by === 'email' ? texts.emailHelp : texts.subjectHelp}
            value={who}
            onChange={typed => setWho(typed.trim())}
            isRequired
            autoFocus
            problem={errorAbout(problem, by, [who])}
          />
        </>
      )}
    </GrantFormDialog>
  )
}

/** Creates a new link for a person who has not accepted the invitation. The former link stops working. */
export function InviteAgain({ member, name }: { readonly member: Member; readonly name: string }) {
  const texts = useTexts().members
  const queries = useQueryClient()
  return (
    <ActionDialog
      needs="admin"
      trigger={texts.inviteAgain}
      triggerLook={{ isSmall: true }}
      triggerLabel={texts.inviteAgainOf(name)}
      title={texts.inviteAgainOf(name)}
      sentence={texts.inviteAgainSentence(name)}
      submit={texts.inviteAgain}
      onClose={() => void queries.invalidateQueries({ queryKey: [MEMBERS] })}
      onSubmit={async () => {
        await requireSeen(member)
        const permissions = member.grants.filter(({ via }) => via === 'own').map(asSent)
        return answerOf(service.POST('/v2/members', { body: { email: member.email ?? '', permissions } }))
      }}
      outcome={{
        title: texts.linkTitle,
        content: invited => <InvitationLink member={invited} />,
        close: texts.linkClose,
      }}
    />
  )
}

function InvitationLink({ member: { invite } }: { readonly member: Member }) {
  const texts = useTexts().members
  if (!invite?.invite_url) return <p>{texts.memberAdded}</p>
  return (
    <SecretText
      secret={invite.invite_url}
      once={texts.linkOnce}
      name={texts.link}
      copy={texts.copyLink}
      copied={texts.linkCopied}
      notCopied={texts.linkNotCopied}
    />
  )
}
