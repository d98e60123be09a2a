/** What calls about the organization need as a body, with one of the right shape about things that need not exist. */
export const ORGANIZATION_BODIES: Readonly<Record<string, unknown>> = {
  createApiKey: { project_id: 'default', environment_id: 'default' },
  createProject: { key: 'default', name: 'Default' },
  updateProject: {},
  createEnvironment: { key: 'default', name: 'Default' },
  updateEnvironment: {},
  copyEnvironment: { target_env: { existing: 'nothing' } },
}
