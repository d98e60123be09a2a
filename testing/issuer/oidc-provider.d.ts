/** The part of `oidc-provider` that tests use. The package contains no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Interaction {
    readonly prompt: { readonly name: string }
  }

  export class Provider {
    readonly Grant: new (content: { readonly accountId: string; readonly clientId: string }) => {
      addOIDCScope(scope: string): void
      save(): Promise<string>
    }
    constructor(issuer: string, configuration: object)
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>
  }
}

declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  const MemoryAdapter: new (name: string) => object
  export default MemoryAdapter
}
