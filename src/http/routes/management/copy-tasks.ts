/**
 * Copies of environments, for clients that submit a copy task and then request its result. This service
 * completes the copy before it responds, so the task is always done. The ID of the task is the ID of the new
 * environment.
 */
import { RawBytes, RawJson, type Reply } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { assert } from '#model/assert.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import {
  CopyTask,
  CopyTaskPath,
  CopyTaskQuery,
  type Environment,
  EnvironmentCopy,
  EnvironmentPath,
  type EnvironmentWithEmail,
} from '#model/wire/organization/environment.ts'

const TASKS = '/v2/projects/{proj_id}/envs/{env_id}/copy/async'

/**
 * `environments`: the routes of environments. Their routes `copyEnvironment` and `getEnvironment` do the
 * work.
 */
export function copyTaskRoutes(environments: readonly Route[]): Route[] {
  const [copy, get] = ['copyEnvironment', 'getEnvironment'].map(name => {
    const route = environments.find(({ operationId }) => operationId === name)
    assert(route, `there is a route ${name}`)
    return route
  }) as [Route, Route]
  const common = {
    family: 'management',
    access: 'project',
    query: CopyTaskQuery,
    isDescribed: false,
  } as const
  return [
    defineRoute({
      ...common,
      method: 'POST',
      path: TASKS,
      operationId: 'copyEnvironmentAsync',
      level: 'admin',
      summary: 'Copy an environment as a task that is complete when the response is sent',
      params: EnvironmentPath,
      body: EnvironmentCopy,
      refusals: [...copy.refusals],
      responses: {
        202: { description: 'Copied.', schema: CopyTask, headers: copy.responses[201]!.headers! },
      },
      handle: async call => taskOf(await copy.handle(call), 202),
    }),
    defineRoute({
      ...common,
      method: 'GET',
      path: `${TASKS}/{task_id}/result`,
      operationId: 'getCopyEnvironmentResult',
      level: 'read',
      summary: 'Read the result of a copy task',
      params: CopyTaskPath,
      refusals: [...get.refusals],
      responses: { 200: { description: 'Copied.', schema: CopyTask, headers: get.responses[200]!.headers! } },
      handle: async call => {
        const { proj_id, task_id } = call.params
        return taskOf(await get.handle({ ...call, params: { proj_id, env_id: task_id }, query: {} }), 200)
      },
    }),
  ]
}

function taskOf({ body, headers }: Reply, status: number): Reply {
  assert(body instanceof RawJson || body instanceof RawBytes, 'the response with an environment is JSON')
  const text = body instanceof RawJson ? body.text : Buffer.from(body.bytes).toString()
  // Removes the email configuration, which only the read returns. The result of the task must be the same in
  // both responses.
  const { email_configuration: _email, ...result } = parsedJson(text) as Partial<EnvironmentWithEmail> &
    Environment
  return {
    status,
    body: { task_id: result.id, status: 'success', result, error: null },
    ...(headers && { headers }),
  }
}
