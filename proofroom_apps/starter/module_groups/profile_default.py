from proofroom.definitions import GroupModule, ModuleGroupDefinition


class ProfileDefault(ModuleGroupDefinition):
    name = "profile-default"
    label = "Profile"
    description = "About a person."
    post_type = "profile"
    modules = (GroupModule("prose"),)
