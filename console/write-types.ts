/**
 * Generates the types of the HTTP interface from the OpenAPI description of the service, so that the compiler
 * checks the requests of the console. The types are not committed; `npm run check:types` generates them
 * first.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import openapiTypes, { astToString } from 'openapi-typescript'
import { InProcessService } from '../src/composition/wiring/in-process-service.ts'

const FOLDER = new URL('types/', import.meta.url)

const service = await InProcessService.open(error => {
  throw error
})
const { status, body } = await service.answer('GET', '/openapi.json', '')
await service.close()
if (status !== 200) throw new Error(`the request for the OpenAPI description returned status ${status}`)
const types = await openapiTypes(JSON.parse(Buffer.from(body).toString()), { defaultNonNullable: false })
mkdirSync(FOLDER, { recursive: true })
writeFileSync(fileURLToPath(new URL('interface.d.ts', FOLDER)), astToString(types))
