/** Deletes members without own grants once per hour, if they have not signed in for a long time. */
import { isRetryable } from '#management/drafts/retryable-errors.ts'
import { removeLapsedMembers } from '#management/members/lapsed-members.ts'
import type { OrganizationService } from '#management/organization/organization-service.ts'
import type { Principal } from '#model/principal.ts'

const EVERY_MS = 3_600_000

export interface LapsedMemberRemovalParts {
  readonly service: OrganizationService
  readonly organizationId: () => string
  /** Whether the organization's store accepts writes at present. */
  readonly mayWrite: () => boolean
  readonly onFault: (error: unknown) => void
}

export class LapsedMemberRemoval {
  readonly #parts: LapsedMemberRemovalParts
  readonly #timer: NodeJS.Timeout

  /** Starts the removal, which continues until `close` is called. */
  constructor(parts: LapsedMemberRemovalParts) {
    this.#parts = parts
    this.#timer = setInterval(() => void this.run().catch(parts.onFault), EVERY_MS)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** Runs one pass. If the store does not accept the commit, the next pass repeats it. */
  async run(): Promise<void> {
    const { service, organizationId, mayWrite } = this.#parts
    if (!mayWrite()) return
    const principal: Principal = {
      kind: 'organization',
      level: 'admin',
      organizationId: organizationId(),
      keyId: null,
    }
    try {
      await service.commit(principal, removeLapsedMembers)
    } catch (error) {
      if (!isRetryable(error)) throw error
    }
  }
}
