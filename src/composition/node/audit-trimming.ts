/** Trims audit logs once per hour: first the log of the organization, then that of each environment. */
import type { AuditRetention } from '#management/audit/audit-retention.ts'
import type { OpenEnvironments } from '#management/organization/environment-opening.ts'

const EVERY_MS = 3_600_000

export class AuditTrimming {
  readonly #retention: AuditRetention
  readonly #environments: OpenEnvironments
  readonly #onFault: (error: unknown) => void
  readonly #timer: NodeJS.Timeout

  /** Starts trimming, which continues until `close` is called. */
  constructor(retention: AuditRetention, environments: OpenEnvironments, onFault: (error: unknown) => void) {
    this.#retention = retention
    this.#environments = environments
    this.#onFault = onFault
    this.#timer = setInterval(() => this.trim(), EVERY_MS)
  }

  /** Runs one pass in the background. */
  trim(): void {
    void this.#trimAll().catch(this.#onFault)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #trimAll(): Promise<void> {
    await this.#retention.trim()
    for (const { service } of this.#environments.all()) await service?.trimAudit()
  }
}
