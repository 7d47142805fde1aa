from proofroom.definitions import GroupModule, ModuleGroupDefinition


class CompanyDefault(ModuleGroupDefinition):
    name = "company-default"
    label = "Company"
    description = "About an organisation."
    post_type = "company"
    modules = (GroupModule("prose"),)
